/** Puts features together: a typed list of definitions, and the composed product. It names no feature itself. */

import { SomeFailed } from "../core/act-on-each.ts";
import { messageOf, unavailable } from "../core/errors.ts";
import { createEventCatalogue, type EventCatalogue, type EventDefinition } from "../core/events.ts";
import { firstOf } from "../engine/attachments.ts";
import type { Contributions, Core, Feature, FeatureDefinition, StartFailure } from "../feature/feature.ts";
import type { InnerCall } from "../http/inner-call.ts";
import type { OwnedRoutes } from "../http/route-table.ts";
import { isStorageFailure } from "../store/damage.ts";
import { createHousekeeping } from "./housekeeping.ts";

type AnyDefinition = FeatureDefinition<string, never, unknown>;

/** Features in order. Each may use the services of those before it, which TypeScript checks. */
export interface FeatureList<Services, Event extends EventDefinition = EventDefinition> {
  /** Adds a feature. @throws Error when its name is taken. */
  with<Name extends string, Service, E extends EventDefinition>(
    definition: FeatureDefinition<Name, Core & Services, Service, E>,
  ): FeatureList<Services & { readonly [K in Name]: Service }, Event | E>;
  /** All kinds of events, in the order of the features. */
  readonly events: readonly Event[];
  /** Creates the features one after another. When one fails, the resources of those before it are released. */
  create(core: Omit<Core, "contributions">, api: Api, patience?: Patience): Promise<Composition<Services>>;
}

export interface Api {
  /** Accepts the routes of all features, in order. @param assertOn throws Problem 503 for a feature that is off. */
  serve(routes: readonly OwnedRoutes[], assertOn: (feature: string) => void): void;
  /** Makes the OpenAPI document of all routes. */
  document(events: EventCatalogue): Record<string, unknown>;
  /** Calls one of the routes on behalf of a caller. */
  call: InnerCall;
}

interface Patience {
  /** How long a feature may take to start, in ms. After that it is off, and the features below it start. */
  startMs: number;
  /** How long a feature may take to stop or close, in ms, before the log names it. */
  slowMs: number;
}

interface Composition<Services> {
  readonly services: Services;
  readonly contributions: Contributions;
  /**
   * Starts the features in order, then their timed duties. A feature that fails is off. @throws errors of the data
   * folder's disk.
   */
  start(): Promise<void>;
  /** Lets all features continue what the last process left. Failures are logged and reported. */
  resume(): Promise<void>;
  /** Ends background work in reverse order. Failures and delays are logged, and the others continue. */
  stop(): Promise<void>;
  /** Releases the features' resources in reverse order. */
  close(): Promise<void>;
}

const PATIENCE: Patience = { startMs: 60_000, slowMs: 5_000 };

export const noFeatures = (): FeatureList<unknown, never> => listOf([]);

function listOf<Services, Event extends EventDefinition>(
  definitions: readonly AnyDefinition[],
): FeatureList<Services, Event> {
  return {
    events: definitions.flatMap(({ events }) => events) as readonly EventDefinition[] as readonly Event[],
    with(definition) {
      if (definitions.some(({ name }) => name === definition.name))
        throw new Error(`Two features are called ${definition.name}.`);
      return listOf([...definitions, definition]);
    },
    create: (core, api, patience = PATIENCE) => createComposition<Services>(definitions, core, api, patience),
  };
}

async function createComposition<Services>(
  definitions: readonly AnyDefinition[],
  core: Omit<Core, "contributions">,
  api: Api,
  { startMs, slowMs }: Patience,
): Promise<Composition<Services>> {
  const features = new Map<string, Feature>();
  const services: Record<string, unknown> = {};
  const { log } = core;
  const inReverse = (what: "stop" | "close") => inTurn({ log, slowMs, what }, [...features].reverse());
  const close = () => inReverse("close");
  const failures: StartFailure[] = [];
  const contributions = sumOf({ features, definitions, api, failures });
  try {
    for (const { name, create } of definitions) {
      if (name in core) throw new Error(`A feature cannot be called ${name}: a core part has that name.`);
      const feature = await create({ ...core, contributions, ...services } as never);
      features.set(name, feature);
      services[name] = feature.service;
    }
  } catch (error) {
    await close();
    throw error;
  }
  const isOff = (name: string): boolean => failures.some(({ feature, isOff }) => isOff && feature === name);
  api.serve(
    [...features].flatMap(([owner, { routes }]) => (routes ? { owner, routes } : [])),
    (name) => {
      if (isOff(name)) throw featureOff(name);
    },
  );
  /** Records a feature's failure. @throws the error when it is a failure of storage and not of the feature. */
  const note = (feature: string, when: StartFailure["when"], error: unknown): void => {
    const cause = error instanceof SomeFailed ? error.cause : error;
    if (when === "start" && isStorageFailure(cause)) throw cause;
    const isOff = when === "start" && !(error instanceof SomeFailed);
    failures.push({ feature, when, message: messageOf(error), isOff });
    log.error({ err: cause, feature }, `${feature} could not ${when === "start" ? "start" : CONTINUE}`);
  };
  let housekeeping: ReturnType<typeof createHousekeeping> | undefined;
  let isStopping = false;
  return {
    services: services as Services,
    contributions,
    async start() {
      for (const [name, feature] of features)
        try {
          await inTime(feature.start?.(), startMs);
        } catch (error) {
          note(name, "start", error);
        }
      const started = [...features].flatMap(([name, { duties }]) => (isOff(name) ? [] : (duties ?? [])));
      housekeeping = createHousekeeping(log, started);
    },
    async resume() {
      await Promise.all(
        [...features].map(async ([name, feature]) => {
          try {
            if (!isOff(name)) await feature.resume?.();
          } catch (error) {
            // Work that a stop cuts short is continued at the next start.
            if (!isStopping) note(name, "resume", error);
          }
        }),
      );
    },
    async stop() {
      isStopping = true;
      await housekeeping?.stop();
      await inReverse("stop");
    },
    close,
  };
}

const CONTINUE = "continue what the last process left";

const featureOff = (name: string) =>
  unavailable(
    "feature_off",
    `The part of the server called ${name} could not start. skep doctor says why; the rest of the server works.`,
  );

type Finding = Awaited<ReturnType<Contributions["checks"]>>[number];
const fail = (check: string, detail: string, remedy: string): Finding => ({ check, verdict: "fail", detail, remedy });

const findingOf = ({ feature, when, message, isOff }: StartFailure): Finding =>
  fail(
    "start",
    `${feature} could not ${when === "start" && isOff ? "start" : CONTINUE}: ${message}`,
    isOff
      ? "its routes answer 503 until then: see the server's log, restart it, and report the trace if it happens again"
      : "see the server's log, restart it, and report the trace if it happens again",
  );

/** A feature's findings about itself. A check that fails becomes a finding, so it does not hide the others'. */
async function findingsOf(name: string, { checks }: Feature): Promise<Finding[]> {
  try {
    return (await checks?.()) ?? [];
  } catch (error) {
    return [fail(name, `could not be checked: ${messageOf(error)}`, "see the server's log")];
  }
}

interface Sum {
  features: ReadonlyMap<string, Feature>;
  definitions: readonly AnyDefinition[];
  api: Pick<Api, "document" | "call">;
  failures: readonly StartFailure[];
}

/** What all features contribute together; each part is read when it is requested. */
function sumOf({ features, definitions, api, failures }: Sum): Contributions {
  const listFeatures = (): Feature[] => {
    if (features.size < definitions.length)
      throw new Error("What all features bring was asked for before all were created. Ask for it when it is used.");
    return [...features.values()];
  };
  const events = createEventCatalogue(definitions.flatMap((definition) => definition.events));
  let document: Record<string, unknown> | undefined;
  return {
    events,
    get tools() {
      return listFeatures().flatMap(({ tools }) => tools ?? []);
    },
    get attachments() {
      return firstOf(listFeatures().flatMap(({ attachments }) => attachments ?? []));
    },
    get jobs() {
      return listFeatures().flatMap(({ jobs }) => jobs ?? []);
    },
    get duties() {
      return listFeatures().flatMap(({ duties }) => duties ?? []);
    },
    get prunes() {
      return listFeatures().flatMap(({ prunes }) => prunes ?? []);
    },
    startFailures: failures,
    async checks() {
      listFeatures();
      const found = await Promise.all([...features].map(([name, feature]) => findingsOf(name, feature)));
      return [...failures.map(findingOf), ...found.flat()];
    },
    counts: () => Object.assign({}, ...listFeatures().map((feature) => feature.counts?.())),
    handOver(from, to) {
      for (const feature of listFeatures()) feature.handOver?.(from, to);
    },
    apiDocument() {
      listFeatures();
      document ??= api.document(events);
      return document;
    },
    call(caller, request) {
      listFeatures();
      return api.call(caller, request);
    },
  };
}

/** Waits for `work`. @throws its error, or an Error when it takes too long; errors after that are ignored. */
async function inTime(work: void | Promise<void>, ms: number): Promise<void> {
  if (work === undefined) return;
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it was not done after ${ms / 1_000} s`)), ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function inTurn(
  { log, slowMs, what }: Pick<Patience, "slowMs"> & { log: Core["log"]; what: "stop" | "close" },
  features: readonly (readonly [string, Feature])[],
): Promise<void> {
  for (const [name, feature] of features) {
    const slow = setTimeout(
      () => log.warn({ feature: name }, `${name} takes more than ${slowMs / 1_000} s to ${what}`),
      slowMs,
    );
    slow.unref();
    try {
      await feature[what]?.();
    } catch (error) {
      log.error({ err: error, feature: name }, `${name} could not ${what}`);
    } finally {
      clearTimeout(slow);
    }
  }
}
