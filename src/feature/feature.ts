/**
 * What a feature is. `src/feature/<name>/feature.ts` exports one definition, and `src/app/features.ts` lists it in one
 * line. Its `create` gets only the parts of the server and the services of the features listed above it, so two
 * features cannot need each other. `app/compose.ts` connects what `create` returns to the server.
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

/** The parts of the server that every feature may use. `app/core.ts` opens them. */
export interface Core {
  readonly config: Config;
  readonly clock: Clock;
  /** Calls functions when their time has come. */
  readonly clockwork: Clockwork;
  readonly log: Logger;
  /** Masks all secret values that this server knows, in everything that it stores and shows. */
  readonly masking: Masking;
  /** Processes strangers' text outside this process. */
  readonly text: TextWork;
  /** Extracts text from strangers' files outside this process. */
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
  /**
   * Whether this instance is a copy on standby. Such a copy starts nothing by itself, because the original may do the
   * same work.
   */
  readonly standby: Standby;
  /** Undefined when the configuration uses no container engine. */
  readonly docker: DockerClient | undefined;
  readonly guard: AddressGuard;
  readonly site: Site;
  readonly streams: EventStreams;
  readonly tickets: Tickets;
  readonly idempotency: Idempotency;
  readonly metrics: Metrics;
  /** Address of this server once it listens. */
  url(): string | undefined;
  /** Replacements that tests use instead of the real models and sandboxes. */
  readonly replaced: { readonly models?: ModelPort; readonly sandboxes?: SandboxDriver };
  /** What all features contribute together. */
  readonly contributions: Contributions;
}

/** The contributions of all features together. Complete once every feature was created; reading them earlier throws. */
export interface Contributions {
  /** In the order of the features. */
  readonly tools: readonly ToolSource[];
  /** Reads attachments of messages, whichever feature stores them. */
  readonly attachments: Attachments;
  readonly jobs: readonly JobDefinition[];
  readonly duties: readonly Duty[];
  readonly prunes: readonly Prune[];
  /** The kinds of events of all features. */
  readonly events: EventCatalogue;
  checks(): Promise<Finding[]>;
  /** What failed when features started. The server works without it. */
  readonly startFailures: readonly StartFailure[];
  counts(): Record<string, number>;
  /** Call inside the transaction that deletes the user. */
  handOver: HandOver;
  /** The OpenAPI document of all routes, made at the first request for it. */
  apiDocument(): Record<string, unknown>;
  /** Calls an operation of the API as a caller: with that caller's rights, and through the checks of every request. */
  call: InnerCall;
}

/** A feature that could not start, or that could not resume the work of the last process. */
export interface StartFailure {
  feature: string;
  when: "start" | "resume";
  message: string;
  /**
   * True: the feature's routes answer 503 and it does nothing in the background. False: only the failed part does not
   * work.
   */
  isOff: boolean;
}

/** Passes what one user owns to another (null: nobody is left). Called in the deleting transaction. */
export type HandOver = (from: string, to: string | null) => void;

/**
 * Work that is done periodically. It first runs soon after the start, and never twice at once. Errors that it throws
 * are logged.
 */
export interface Duty {
  name: string;
  /** Time between two starts, ms. */
  everyMs: number;
  run(signal: AbortSignal): void | Promise<void>;
}

/** Removes old rows, a limited number at a time (`store/remove-old.ts`). Called every hour. */
export interface Prune {
  /** How long rows are kept: the name of a setting, a number of days, or null when `run` knows by itself. */
  keep: keyof Settings["retention"] | number | null;
  /**
   * @param before ms since the epoch; older rows are removed. @returns true to be called again soon, because there may
   * be more.
   */
  run(before: number): unknown;
}

/** What a feature contributes; every member is optional. */
export interface Feature<Service = unknown> {
  /** The service that features further down the list get under this feature's name. */
  service?: Service;
  /**
   * For example `() => operations("notes", [operation("listNotes", "GET /v1/notes", …), …])`. It is called once the
   * server has started, or earlier by the first request that needs it. Operations for probes of a starting server are
   * given as a list.
   */
  routes?: Routes;
  /** Tools for agents: `toolsOf("notes", [createNoteTool(…)])`, or a source that is asked for each execution. */
  tools?: ToolSource;
  /** Reads attachments of messages for models. Undefined for ids that are not this feature's. */
  attachments?: Attachments;
  /** Kinds of background jobs that the feature runs. */
  jobs?: readonly JobDefinition[];
  duties?: readonly Duty[];
  prunes?: readonly Prune[];
  handOver?: HandOver;
  /** Numbers for /v1/status, by name. */
  counts?(): Record<string, number>;
  /** Findings for `skep doctor` about this feature. */
  checks?(): Finding[] | Promise<Finding[]>;
  /**
   * Called in the order of the list while the server listens; the server counts as started when all are done. A feature
   * that throws here, or is not done within a minute, is off: its routes answer 503 and the others work. After
   * `SomeFailed` (`core/act-on-each.ts`) the feature works, too.
   */
  start?(): void | Promise<void>;
  /**
   * Called soon after the start: resumes lengthy work of the last process. `stop` may be called meanwhile. An error is
   * reported, and the feature works.
   */
  resume?(): Promise<void>;
  /** Ends background work while the server still answers. Called in reverse order of the list. */
  stop?(): void | Promise<void>;
  /**
   * Releases resources such as processes and connections, after the server has stopped. In reverse order of the list.
   */
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

/** The type of a definition's service, for features that need it. */
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
