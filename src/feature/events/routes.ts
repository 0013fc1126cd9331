/**
 * GET /v1/events, the log; GET /v1/events/stream, new events; and one-minute tickets, with which a browser opens the
 * stream without a token in the address.
 */

import { Type as t } from "@sinclair/typebox";
import { badRequest, invalidField } from "../../core/errors.ts";
import type { EventCatalogue, SkepEvent } from "../../core/events.ts";
import type { Caller } from "../../http/caller.ts";
import { cursorAfter, numberAfter, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { queryInteger } from "../../http/schema.ts";
import { stillHolds } from "../../http/standing.ts";
import { TICKET_SECONDS } from "../../http/tickets.ts";
import type { EventLog, RawEvent } from "../../store/event-log.ts";
import type { ProjectAccess } from "../../store/project-access.ts";
import { mayRead, WHOSE } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import { FilterQuery, LoggedEventList, presentEvent, StreamQuery } from "./model.ts";

interface EventDeps extends Pick<Core, "streams" | "tickets"> {
  log: Pick<EventLog, "page">;
  catalogue: EventCatalogue;
  access: Pick<ProjectAccess, "isAllOpen" | "ofWork">;
  /** Kinds of events of which a stream with `focus` gets only those of the runs and sessions in focus. */
  fine: ReadonlySet<string>;
  /** @throws Problem 404 for a run that does not exist, or that the caller may not read. */
  assertRun(runId: string, caller: Caller): unknown;
}

type EventReferences = Pick<SkepEvent, "run_id" | "session_id" | "user_id" | "project_id">;

export function eventRoutes({ streams, tickets, log, catalogue, fine, assertRun, access }: EventDeps) {
  /** The project of the work that the event is about. Not every event names it. */
  const projectOf = ({ project_id, run_id, session_id }: EventReferences): string | null => {
    const work = run_id ?? session_id;
    if (project_id !== undefined || work === undefined || access.isAllOpen()) return project_id ?? null;
    return access.ofWork(work);
  };
  /**
   * Whether the caller may read the event. An execution may only follow its own session. It is checked for each event,
   * so that a stream respects changes of membership.
   */
  const mayReadEvent = (caller: Caller, event: EventReferences): boolean =>
    mayRead(caller, WHOSE.events, { user_id: event.user_id ?? null, project_id: projectOf(event) }) &&
    (caller.execution === undefined || event.session_id === caller.execution.sessionId);
  const open = (caller: Caller, query: StreamQuery, lastEventId: string | null): Response => {
    const { run_id, session_id, agent_id, swarm_id, project_id } = query;
    if (run_id !== undefined) assertRun(run_id, caller);
    const focus = query.focus === undefined ? undefined : new Set(query.focus.split(",").map((id) => id.trim()));
    const inFocus = ({ kind, run_id: run = "", session_id: session = "" }: SkepEvent) =>
      focus === undefined ||
      !fine.has(kind) ||
      (focus.has(run) && run !== "") ||
      (focus.has(session) && session !== "");
    const follows = [run_id, session_id, swarm_id].some((id) => id !== undefined);
    const after = positionOf(lastEventId) ?? query.after ?? (follows ? 0 : undefined);
    return streams.open({
      filter: { run_id, session_id, agent_id, swarm_id, project_id, kinds: kindsOf(query.kinds, catalogue) },
      after,
      mayRead: (event) => mayReadEvent(caller, event) && inFocus(event),
      stillValid: () => stillHolds(caller),
      userId: caller.userId,
    });
  };
  const list = (caller: Caller, { q, before, kinds, limit, cursor, ...refs }: ListQuery) => {
    if (refs.run_id !== undefined) assertRun(refs.run_id, caller);
    const page = pageOf({ limit, cursor });
    const words = (q ?? "").toLowerCase().split(/\s+/).filter(Boolean).map(inJson);
    const fits = (event: RawEvent) => mayReadEvent(caller, event) && holds(event, words);
    const filter = { ...refs, kinds: kindsOf(kinds, catalogue) };
    const { events, before: rest } = log.page(numberAfter(page) ?? before, page.limit, filter, fits);
    return { items: events.map(presentEvent), next_cursor: rest === null ? null : cursorAfter(String(rest)) };
  };
  return tagOperations("events", [
    defineOperation("listEvents", "GET /v1/events", {
      access: "user",
      query: ListQuery,
      answer: LoggedEventList,
      summary: "List the events of the log, newest first",
      description:
        "Each page covers a bounded part of the log, so it may hold fewer events than `limit`, or none, although more follow. The list ends when `next_cursor` is null.",
      handler: ({ query, caller }) => list(caller, query),
    }),
    defineOperation("ticketEvent", "POST /v1/events/ticket", {
      access: "user",
      scope: "read",
      answer: t.Object({
        ticket: t.String(),
        expires_in: t.Integer({ description: "Seconds until the ticket expires." }),
      }),
      summary: "Create a one-time ticket for the event stream, valid for one minute",
      handler: ({ caller }) => ({ ticket: tickets.issue(caller), expires_in: TICKET_SECONDS }),
    }),
    defineOperation("getEventsStream", "GET /v1/events/stream", {
      access: "user",
      query: StreamQuery,
      summary: "Stream live events, resumable (Server-Sent Events)",
      description:
        "Frames carry `id`, `event` (the kind) and `data` (one line of JSON). With `run_id`, `session_id` or `swarm_id` the stream starts at the first event of that run, session or swarm. The stream of a run ends after the run's last event. The request needs a credential or a ticket.",
      documented: {
        responses: {
          200: {
            description:
              "An event stream. The JSON of each frame follows the schema `Event`. A frame `gap` instead names the events that are missing (`from`, `to`).",
            content: { "text/event-stream": { schema: { type: "string" } } },
          },
          204: { description: "The run has ended and this position is after its last event. Do not reconnect." },
        },
      },
      handler: ({ query, caller, request }) => open(caller, query, request.headers.get("last-event-id")),
    }),
  ]);
}

const ListQuery = t.Object({
  ...FilterQuery,
  ...PageQuery,
  before: t.Optional(queryInteger({ minimum: 1, description: "Id of an event. Only events before it are returned." })),
  q: t.Optional(t.String({ maxLength: 200, description: "Words that must all occur in the event's kind or data." })),
});
type ListQuery = (typeof ListQuery)["static"];

/** Writes a word as it appears in an event's data, escaped as in JSON. */
const inJson = (word: string): string => JSON.stringify(word).slice(1, -1);

function holds({ kind, data }: RawEvent, words: string[]): boolean {
  if (words.length === 0) return true;
  const text = `${kind} ${data}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** @throws Problem 400 for an id that the server's streams never send. */
function positionOf(lastEventId: string | null): number | undefined {
  if (lastEventId === null || lastEventId === "") return undefined;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  throw badRequest("Last-Event-ID takes the number of the last event that you read.", "bad_last_event_id");
}

function kindsOf(text: string | undefined, catalogue: EventCatalogue): string[] | undefined {
  if (text === undefined || text === "") return undefined;
  const kinds = text.split(",").map((kind) => kind.trim());
  if (!kinds.every(catalogue.has)) throw invalidField("kinds", "Names a kind of event that does not exist");
  return kinds;
}
