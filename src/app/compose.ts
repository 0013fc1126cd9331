/** Puts features together: a typed list of definitions, and the result: the composed product. Names no feature. */

import { createEventCatalogue, type EventCatalogue, type EventDefinition } from "../core/events.ts";
import { firstOf } from "../engine/attachments.ts";
import type { Contributions, Core, Feature, FeatureDefinition } from "../feature/feature.ts";
import type { InnerCall } from "../http/inner-call.ts";
import type { Routes } from "../http/route-table.ts";
import { createHousekeeping } from "./housekeeping.ts";

type AnyDefinition = FeatureDefinition<string, never, unknown>;

/** Features in order. Each may need the services of those before it, which TypeScript checks. */
export interface FeatureList<Services, Event extends EventDefinition = EventDefinition> {
  /** @throws Error when the name is taken. */
  with<Name extends string, Service, E extends EventDefinition>(
    definition: FeatureDefinition<Name, Core & Services, Service, E>,
  ): FeatureList<Services & { readonly [K in Name]: Service }, Event | E>;
  /** Every kind of event, in the order of the features. */
  readonly events: readonly Event[];
  /** Creates them one after another. When one fails, what those before it hold is released. */
  create(core: Omit<Core, "contributions">, api: Api, patience?: Patience): Promise<Composition<Services>>;
}

export interface Api {
  /** Takes the routes of all features, in their order. */
  serve(routes: readonly Routes[]): void;
  /** Makes the OpenAPI document of all routes. */
  document(events: EventCatalogue): Record<string, unknown>;
  /** Calls one of the routes on behalf of a caller. */
  call: InnerCall;
}

export interface Patience {
  /** A feature that takes longer to stop or close is named in the log; ms. */
  slowMs: number;
}

export interface Composition<Services> {
  readonly services: Services;
  readonly contributions: Contributions;
  /** Starts the features in order, then their duties. */
  start(): Promise<void>;
  /** Lets all features continue what the last process left. What fails is logged. */
  resume(): Promise<void>;
  /** Ends background work in reverse order. What fails or hangs is logged, and the others continue. */
  stop(): Promise<void>;
  /** Releases in reverse order what the features hold. */
  close(): Promise<void>;
}

const PATIENCE: Patience = { slowMs: 5_000 };

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
  { slowMs }: Patience,
): Promise<Composition<Services>> {
  const features = new Map<string, Feature>();
  const services: Record<string, unknown> = {};
  const { log } = core;
  const inReverse = (what: "stop" | "close") => inTurn({ log, slowMs, what }, [...features].reverse());
  const close = () => inReverse("close");
  const contributions = sumOf(features, definitions, api);
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
  const all = [...features.values()];
  api.serve(all.flatMap(({ routes }) => routes ?? []));
  let housekeeping: ReturnType<typeof createHousekeeping> | undefined;
  return {
    services: services as Services,
    contributions,
    async start() {
      for (const feature of all) await feature.start?.();
      housekeeping = createHousekeeping(log, contributions.duties);
    },
    async resume() {
      await Promise.all(
        [...features].map(async ([name, feature]) => {
          try {
            await feature.resume?.();
          } catch (error) {
            log.error({ err: error, feature: name }, `${name} could not continue what the last process left`);
          }
        }),
      );
    },
    async stop() {
      await housekeeping?.stop();
      await inReverse("stop");
    },
    close,
  };
}

/** What all features bring together, read when it is asked for. */
function sumOf(
  features: ReadonlyMap<string, Feature>,
  definitions: readonly AnyDefinition[],
  api: Pick<Api, "document" | "call">,
): Contributions {
  const all = (): Feature[] => {
    if (features.size < definitions.length)
      throw new Error("What all features bring was asked for before all were created. Ask for it when it is used.");
    return [...features.values()];
  };
  const events = createEventCatalogue(definitions.flatMap((definition) => definition.events));
  let document: Record<string, unknown> | undefined;
  return {
    events,
    get tools() {
      return all().flatMap(({ tools }) => tools ?? []);
    },
    get attachments() {
      return firstOf(all().flatMap(({ attachments }) => attachments ?? []));
    },
    get jobs() {
      return all().flatMap(({ jobs }) => jobs ?? []);
    },
    get duties() {
      return all().flatMap(({ duties }) => duties ?? []);
    },
    get prunes() {
      return all().flatMap(({ prunes }) => prunes ?? []);
    },
    checks: async () => (await Promise.all(all().map(async (feature) => (await feature.checks?.()) ?? []))).flat(),
    counts: () => Object.assign({}, ...all().map((feature) => feature.counts?.())),
    handOver(from, to) {
      for (const feature of all()) feature.handOver?.(from, to);
    },
    apiDocument() {
      all();
      document ??= api.document(events);
      return document;
    },
    call(caller, request) {
      all();
      return api.call(caller, request);
    },
  };
}

async function inTurn(
  { log, slowMs, what }: Patience & { log: Core["log"]; what: "stop" | "close" },
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
