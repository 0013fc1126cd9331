/**
 * What an event is. Each feature says in its `events.ts` which kinds it has; nothing here knows one. An event is a row
 * of the durable log; subscribers receive it after the transaction that wrote it has committed. Events report; they
 * never decide.
 */
import type { Static, TObject } from "@sinclair/typebox";
import { Errors, ValueErrorType } from "@sinclair/typebox/errors";

/** `must`: never dropped for a slow subscriber (it is cut off instead). `lossy`: may be dropped, and is counted. */
type Delivery = "must" | "lossy";

export interface EventDefinition<Kind extends string = string, Data extends TObject = TObject> {
  /** snake_case, e.g. `run_created`. */
  readonly kind: Kind;
  /** Of the event's `data`; its `description` says when the event happens. */
  readonly schema: Data;
  readonly delivery: Delivery;
  /** Paths of the API, as its document writes them, that answer otherwise from now on; with those below. A page that shows one asks again. */
  readonly stale: readonly string[];
}

/** Declares what a kind of event carries: types, log, stream, OpenAPI, documentation and the dashboard follow. */
export const defineEvent = <const Kind extends string, Data extends TObject>(
  kind: Kind,
  schema: Data,
  { delivery = "must", stale = [] }: Partial<Pick<EventDefinition, "delivery" | "stale">> = {},
): EventDefinition<Kind, Data> => ({ kind, schema, delivery, stale });

/** What an event is about: the columns that streams filter on and that decide who may read it. */
export interface EventRefs {
  run_id?: string | undefined;
  step_id?: string | undefined;
  session_id?: string | undefined;
  agent_id?: string | undefined;
  swarm_id?: string | undefined;
  project_id?: string | undefined;
  /** Owner; events without one are readable by every user. */
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

/** What is written of an event of this definition. */
export type DraftOf<D extends EventDefinition> = EventDraft<Given<Static<D["schema"]>>>;

/** Optional members may be given as undefined: they are left out. */
type Given<T> = { [Name in keyof T]: object extends Pick<T, Name> ? T[Name] | undefined : T[Name] };

/** The event of a definition; of several, the union that `kind` tells apart. */
export type EventOf<D extends EventDefinition> =
  D extends EventDefinition<infer Kind, infer Data> ? SkepEvent<Kind, Static<Data>> : never;

/** Every kind that this program knows: for checking names, OpenAPI and documentation. */
export type EventCatalogue = ReturnType<typeof createEventCatalogue>;

/** @throws Error when two features define one kind, or a kind is not snake_case: it is in frames of the stream. */
export function createEventCatalogue(definitions: readonly EventDefinition[]) {
  const kinds = new Set<string>();
  for (const { kind } of definitions) {
    if (!/^[a-z][a-z_]{0,63}$/.test(kind)) throw new Error(`the kind ${kind} is not written in snake_case`);
    if (kinds.has(kind)) throw new Error(`two features define an event of the kind ${kind}`);
    kinds.add(kind);
  }
  return { definitions, has: (kind: string): boolean => kinds.has(kind) };
}

/** Where data and schema differ, one line per fault; empty when they agree. */
export function faultsOf({ schema }: EventDefinition, data: object): string[] {
  const unknown = Object.keys(data).filter((name) => !Object.hasOwn(schema.properties, name));
  // Formats are checked by the API layer.
  const errors = [...Errors(schema, [], data)].filter(({ type }) => type !== ValueErrorType.StringFormatUnknown);
  return [
    ...errors.map(({ path, message }) => `${path || "/"}: ${message}`),
    ...unknown.map((name) => `/${name}: not in the schema`),
  ];
}

/** Owner of events for administrators alone: streams show an event to its owner and to them; this is nobody's id. */
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
