/**
 * What an event is. Each feature lists its kinds in its `events.ts`; this file knows none of them. An event is a row of
 * the durable log. Subscribers receive it after the transaction that wrote it has committed. Events report; they never
 * decide.
 */
import type { Static, TObject } from "@sinclair/typebox";
import { Errors, ValueErrorType } from "@sinclair/typebox/errors";

/**
 * `must`: never dropped; a slow subscriber is disconnected instead. `lossy`: may be dropped, and drops are counted.
 */
type Delivery = "must" | "lossy";

export interface EventDefinition<Kind extends string = string, Data extends TObject = TObject> {
  /** snake_case, e.g. `run_created`. */
  readonly kind: Kind;
  /** Schema of the event's `data`; its `description` says when the event happens. */
  readonly schema: Data;
  readonly delivery: Delivery;
  /**
   * API paths, as in the OpenAPI document, whose answers change with this event, including the paths below them. Pages
   * that show one reload it.
   */
  readonly stale: readonly string[];
}

/** Declares a kind of event. Types, log, stream, OpenAPI, documentation and the dashboard derive from it. */
export const defineEvent = <const Kind extends string, Data extends TObject>(
  kind: Kind,
  schema: Data,
  { delivery = "must", stale = [] }: Partial<Pick<EventDefinition, "delivery" | "stale">> = {},
): EventDefinition<Kind, Data> => ({ kind, schema, delivery, stale });

/** What an event is about: the columns by which streams filter and by which reading is allowed. */
export interface EventRefs {
  run_id?: string | undefined;
  step_id?: string | undefined;
  session_id?: string | undefined;
  agent_id?: string | undefined;
  swarm_id?: string | undefined;
  project_id?: string | undefined;
  /** Owner; events without an owner are readable by every user. */
  user_id?: string | undefined;
}

export interface EventDraft<Data = Record<string, unknown>> extends EventRefs {
  data: Data;
}

/** An event as subscribers and readers of the log get it. */
export interface SkepEvent<Kind extends string = string, Data = Record<string, unknown>> extends EventDraft<Data> {
  kind: Kind;
  /** Position in the log: strictly growing, without gap. */
  id: number;
  /** RFC 3339, UTC, milliseconds. */
  at: string;
}

/** The draft that is written for an event of this definition. */
export type DraftOf<D extends EventDefinition> = EventDraft<Given<Static<D["schema"]>>>;

/** Optional members may be given as undefined, which leaves them out. */
type Given<T> = { [Name in keyof T]: object extends Pick<T, Name> ? T[Name] | undefined : T[Name] };

/** The event of a definition; for several definitions, a union discriminated by `kind`. */
export type EventOf<D extends EventDefinition> =
  D extends EventDefinition<infer Kind, infer Data> ? SkepEvent<Kind, Static<Data>> : never;

/** All kinds of events that this program knows, for checking names, OpenAPI and documentation. */
export type EventCatalogue = ReturnType<typeof createEventCatalogue>;

/**
 * @throws Error when two features define the same kind, or a kind is not snake_case: it appears in frames of the
 *   stream.
 */
export function createEventCatalogue(definitions: readonly EventDefinition[]) {
  const kinds = new Set<string>();
  for (const { kind } of definitions) {
    if (!/^[a-z][a-z_]{0,63}$/.test(kind)) throw new Error(`the kind ${kind} is not written in snake_case`);
    if (kinds.has(kind)) throw new Error(`two features define an event of the kind ${kind}`);
    kinds.add(kind);
  }
  return { definitions, has: (kind: string): boolean => kinds.has(kind) };
}

/** Where the data violates the schema, one line per fault; empty when it is valid. */
export function faultsOf({ schema }: EventDefinition, data: object): string[] {
  const unknown = Object.keys(data).filter((name) => !Object.hasOwn(schema.properties, name));
  // Formats are checked by the API layer.
  const errors = [...Errors(schema, [], data)].filter(({ type }) => type !== ValueErrorType.StringFormatUnknown);
  return [
    ...errors.map(({ path, message }) => `${path || "/"}: ${message}`),
    ...unknown.map((name) => `/${name}: not in the schema`),
  ];
}

/** Owner of events that only administrators may read. No user has this id. */
export const ADMINISTRATORS = "administrators";

/** The references of an execution's events. */
export const executionRefs = (execution: {
  sessionId: string;
  agentId: string;
  runId?: string | undefined;
  stepId?: string | undefined;
  projectId?: string | undefined;
  userId?: string | undefined;
}): EventRefs => ({
  run_id: execution.runId,
  step_id: execution.stepId,
  session_id: execution.sessionId,
  agent_id: execution.agentId || undefined,
  project_id: execution.projectId,
  user_id: execution.userId,
});
