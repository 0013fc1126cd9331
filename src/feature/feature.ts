/**
 * What a feature is. `src/feature/<name>/feature.ts` exports one definition; `src/app/features.ts` lists it in one line.
 * Its `create` gets the parts of the server and the services of the features listed above it, and nothing else: two
 * features cannot need each other. `app/compose.ts` puts what it returns to use.
 */
import type { AddressGuard } from "../adapter/address-guard.ts";
import type { DockerClient } from "../adapter/docker.ts";
import type { Clock } from "../core/clock.ts";
import type { Clockwork } from "../core/clockwork.ts";
import type { Config } from "../core/config.ts";
import type { EventCatalogue, EventDefinition } from "../core/events.ts";
import type { JobDefinition } from "../core/jobs.ts";
import type { Logger } from "../core/log.ts";
import type { Masking } from "../core/masking.ts";
import type { Sealer } from "../core/sealing.ts";
import type { Attachments } from "../engine/attachments.ts";
import type { ModelPort } from "../engine/model.ts";
import type { SandboxDriver } from "../engine/sandbox.ts";
import type { ToolSource } from "../engine/tool.ts";
import type { EventStreams } from "../http/event-stream.ts";
import type { Idempotency } from "../http/idempotency.ts";
import type { InnerCall } from "../http/inner-call.ts";
import type { Metrics } from "../http/metrics.ts";
import type { Routes } from "../http/route-table.ts";
import type { Site } from "../http/site.ts";
import type { Tickets } from "../http/tickets.ts";
import type { Audit } from "../store/audit.ts";
import type { Bus } from "../store/bus.ts";
import type { DataFolder } from "../store/data-folder.ts";
import type { EventLog } from "../store/event-log.ts";
import type { Standby } from "../store/identity.ts";
import type { InstanceKeys } from "../store/instance-keys.ts";
import type { ProjectAccess } from "../store/project-access.ts";
import type { Store } from "../store/store.ts";
import type { TextWork } from "../text/client.ts";
import type { Extractor } from "../text/extractor.ts";
import type { Finding } from "./doctor/model.ts";
import type { Settings } from "./settings/model.ts";

/** The parts of the server that every feature may use. Opened by `app/core.ts`. */
export interface Core {
  readonly config: Config;
  readonly clock: Clock;
  /** Calls back when something is due. */
  readonly clockwork: Clockwork;
  readonly log: Logger;
  /** All secret values that this server knows, for what it stores and shows. */
  readonly masking: Masking;
  /** Work on what strangers wrote, away from this process. */
  readonly text: TextWork;
  /** Reads text out of strangers' files, away from this process. */
  readonly extractor: Extractor;
  readonly folder: DataFolder;
  readonly store: Store;
  readonly bus: Bus;
  readonly eventLog: EventLog;
  readonly audit: Audit;
  /** Who may do what in which project. */
  readonly access: ProjectAccess;
  readonly sealer: Sealer;
  readonly keys: InstanceKeys;
  readonly instanceId: string;
  /** Whether this instance is a copy that does nothing on its own accord yet, because the original may do it. */
  readonly standby: Standby;
  /** Undefined where the configuration says that no container engine is used. */
  readonly docker: DockerClient | undefined;
  readonly guard: AddressGuard;
  readonly site: Site;
  readonly streams: EventStreams;
  readonly tickets: Tickets;
  readonly idempotency: Idempotency;
  readonly metrics: Metrics;
  /** Address of this server once it listens. */
  url(): string | undefined;
  /** What tests use instead of the real ones. */
  readonly replaced: { readonly models?: ModelPort; readonly sandboxes?: SandboxDriver };
  /** What all features contribute. */
  readonly contributions: Contributions;
}

/** Sums over all features. Complete once every feature was created; read before that, it throws. */
export interface Contributions {
  /** In the order of the features. */
  readonly tools: readonly ToolSource[];
  /** Attachments of messages, whichever feature keeps them. */
  readonly attachments: Attachments;
  readonly jobs: readonly JobDefinition[];
  readonly duties: readonly Duty[];
  readonly prunes: readonly Prune[];
  /** Kinds of events of all features. */
  readonly events: EventCatalogue;
  checks(): Promise<Finding[]>;
  /** What went wrong when features were started: the server works without it. */
  readonly startFailures: readonly StartFailure[];
  counts(): Record<string, number>;
  /** Inside the transaction that deletes the user. */
  handOver: HandOver;
  /** The OpenAPI document of all routes, made when it is first asked for. */
  apiDocument(): Record<string, unknown>;
  /** Asks an operation of the API as somebody: with that caller's rights, through the checks that every request passes. */
  call: InnerCall;
}

/** A feature that could not start, or could not continue what the last process left. */
export interface StartFailure {
  feature: string;
  when: "start" | "resume";
  message: string;
  /** Its routes answer 503 and it does nothing in the background. Else it works, but for what failed. */
  isOff: boolean;
}

/** Gives what one user owns to another (null: nobody is left); called in the deleting transaction. */
export type HandOver = (from: string, to: string | null) => void;

/** Work done periodically, first soon after the start, never twice at once. What it throws is logged. */
export interface Duty {
  name: string;
  /** Between two starts, ms. */
  everyMs: number;
  run(signal: AbortSignal): void | Promise<void>;
}

/** Removes old rows, a bounded number at a time (`store/remove-old.ts`); called every hour. */
export interface Prune {
  /** How long rows are kept: the setting that says so, a number of days, or null where `run` knows by itself. */
  keep: keyof Settings["retention"] | number | null;
  /** @param before ms since the epoch; older rows go. @returns true to be called again soon: there may be more. */
  run(before: number): unknown;
}

/** What a feature contributes; every member is optional. */
export interface Feature<Service = unknown> {
  /** What the features below it get under its name. */
  service?: Service;
  /**
   * `() => operations("notes", [operation("listNotes", "GET /v1/notes", …), …])`. Called once the server has started, or
   * earlier by the first request that needs it; operations that probes ask of a starting server are given as a list.
   */
  routes?: Routes;
  /** Tools that agents may have: `toolsOf("notes", [createNoteTool(…)])`, or a source asked for each execution. */
  tools?: ToolSource;
  /** Reads what is attached to messages, for models. Undefined for ids that are not its own. */
  attachments?: Attachments;
  /** Kinds of background jobs that it carries out. */
  jobs?: readonly JobDefinition[];
  duties?: readonly Duty[];
  prunes?: readonly Prune[];
  handOver?: HandOver;
  /** Numbers for /v1/status, by name. */
  counts?(): Record<string, number>;
  /** Findings for `skep doctor` about this feature. */
  checks?(): Finding[] | Promise<Finding[]>;
  /**
   * The server listens, and counts as started when this is done. In the order of the list. A feature that throws here, or is
   * not done within a minute, is off: its routes answer 503, the others work. After `SomeFailed` (`core/act-on-each.ts`) it works as well.
   */
  start?(): void | Promise<void>;
  /**
   * Soon after the start: continues what the last process left, where that takes time. `stop` may come meanwhile. What it
   * throws is reported; the feature works.
   */
  resume?(): Promise<void>;
  /** Ends background work; the server still answers. In reverse order. */
  stop?(): void | Promise<void>;
  /** Releases what it holds (processes, connections), after the server has stopped. In reverse order. */
  close?(): void | Promise<void>;
}

export interface FeatureDefinition<
  Name extends string,
  Deps,
  Service,
  Event extends EventDefinition = EventDefinition,
> {
  readonly name: Name;
  readonly events: readonly Event[];
  readonly create: (deps: Deps) => Feature<Service> | Promise<Feature<Service>>;
}

/** The service of a definition, as other features name it in what they need. */
export type ServiceOf<Definition> =
  Definition extends FeatureDefinition<string, never, infer Service> ? Service : never;

/**
 * @param create what it needs is the type of its argument: `(deps: Core & { agents: Pick<Agents, "exists"> }) => …`
 * @param events the kinds of events that it emits, from its `events.ts`.
 */
export function defineFeature<Name extends string, Deps, Service, Event extends EventDefinition = never>(
  name: Name,
  create: (deps: Deps) => Feature<Service> | Promise<Feature<Service>>,
  events: readonly Event[] = [],
): FeatureDefinition<Name, Deps, Service, Event> {
  return { name, events, create };
}
