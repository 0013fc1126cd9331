/** Reads the durable event log, and limits its size. */

import { toTimestamp } from "../core/clock.ts";
import type { EventDefinition, EventOf, EventRefs, SkepEvent } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import { ownJson } from "../core/own-json.ts";
import { entriesOf } from "../core/typed-keys.ts";
import type { Store } from "./store.ts";

export interface EventFilter {
  run_id?: string | undefined;
  session_id?: string | undefined;
  agent_id?: string | undefined;
  swarm_id?: string | undefined;
  project_id?: string | undefined;
  kinds?: readonly string[] | undefined;
}

interface EventRow extends Required<{ [K in keyof EventRefs]: string | null }> {
  id: number;
  kind: string;
  at: string;
  data: string;
}

/** An event whose data is still the JSON text of its row. */
export type RawEvent = Omit<SkepEvent, "data"> & { data: string };

interface EventPage {
  events: SkepEvent[];
  /**
   * Where the next page begins; null when the log was read to its start. A page may be empty although the log
   * continues.
   */
  before: number | null;
}

export type EventLog = ReturnType<typeof createEventLog>;

/** True if the event passes the filter. */
export function matches(event: Omit<SkepEvent, "data">, filter: EventFilter): boolean {
  return (
    (filter.run_id === undefined || event.run_id === filter.run_id) &&
    (filter.session_id === undefined || event.session_id === filter.session_id) &&
    (filter.agent_id === undefined || event.agent_id === filter.agent_id) &&
    (filter.swarm_id === undefined || event.swarm_id === filter.swarm_id) &&
    (filter.project_id === undefined || event.project_id === filter.project_id) &&
    (filter.kinds === undefined || filter.kinds.includes(event.kind))
  );
}

function rawOf(row: EventRow): RawEvent {
  const { id, kind, at, data, ...refs } = row;
  const known: EventRefs = {};
  for (const [name, value] of entriesOf(refs)) if (value !== null) known[name] = value;
  return { id, kind, at, ...known, data };
}

const parseEvent = (event: RawEvent): SkepEvent => ({ ...event, data: ownJson<SkepEvent["data"]>(event.data) });
const present = (row: EventRow): SkepEvent => parseEvent(rawOf(row));

/** References that have an index; other filters are checked row by row. */
const INDEXED = ["run_id", "session_id", "swarm_id"] as const;
/** The most that one page reads: rows, and characters of their data. This keeps the event loop free. */
const PAGE_ROWS = 5_000;
const PAGE_CHARACTERS = 2_000_000;
const CHUNK_ROWS = 250;

export function createEventLog(store: Store) {
  const { sqlite } = store;
  const last = sqlite.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'").pluck();
  const first = sqlite.prepare("SELECT min(id) FROM events").pluck();
  const lastId = (): number => Number(last.get() ?? 0);
  const newest = sqlite
    .prepare(
      "SELECT id FROM events WHERE session_id = ? AND kind IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT 1",
    )
    .pluck();
  const read = (after: number, limit: number, filter: EventFilter = {}): SkepEvent[] => {
    const where = ["id > @after"];
    const values: Record<string, unknown> = { after, limit };
    for (const name of ["run_id", "session_id", "agent_id", "swarm_id", "project_id"] as const) {
      if (filter[name] === undefined) continue;
      where.push(`${name} = @${name}`);
      values[name] = filter[name];
    }
    if (filter.kinds) {
      where.push("kind IN (SELECT value FROM json_each(@kinds))");
      values["kinds"] = JSON.stringify(filter.kinds);
    }
    return sqlite
      .prepare<[typeof values], EventRow>(`SELECT * FROM events WHERE ${where.join(" AND ")} ORDER BY id LIMIT @limit`)
      .all(values)
      .map(present);
  };
  return {
    /** Newest id, 0 when there is none. */
    lastId,
    /** Newest id of a session's events of these kinds; 0 when there is none. */
    lastOf: (sessionId: string, kinds: readonly string[]): number =>
      Number(newest.get(sessionId, JSON.stringify(kinds)) ?? 0),
    /** Oldest id still stored; `lastId() + 1` when the log is empty. */
    firstId: (): number => Number(first.get() ?? lastId() + 1),
    /** Events after `after`, oldest first, at most `limit`. */
    read,
    /** Events of these definitions after `after`, oldest first, at most `limit`. */
    // What is stored of a kind was checked by its definition.
    readOf: <D extends EventDefinition>(definitions: readonly D[], after: number, limit: number): EventOf<D>[] =>
      read(after, limit, { kinds: definitions.map(({ kind }) => kind) }) as EventOf<D>[],
    /** Events before `start`, newest first. Each call reads a limited part of the log. */
    page(start: number | undefined, limit: number, filter: EventFilter, fits: (event: RawEvent) => boolean): EventPage {
      const events: SkepEvent[] = [];
      const own = INDEXED.filter((name) => filter[name] !== undefined);
      const where = ["id < ?", ...own.map((name) => `${name} = ?`)].join(" AND ");
      const chunk = store.statement<EventRow>(
        `SELECT * FROM events WHERE ${where} ORDER BY id DESC LIMIT ${CHUNK_ROWS}`,
      );
      const values = own.map((name) => filter[name]);
      let before = start ?? lastId() + 1;
      for (let rows = 0, characters = 0; rows < PAGE_ROWS && characters < PAGE_CHARACTERS; ) {
        const read = chunk.all(before, ...values);
        for (const row of read) {
          const event = rawOf(row);
          rows++;
          characters += row.data.length;
          if (matches(event, filter) && fits(event)) {
            if (events.length === limit) return { events, before };
            events.push(parseEvent(event));
          }
          before = row.id;
        }
        if (read.length < CHUNK_ROWS) return { events, before: null };
      }
      return { events, before };
    },
    /** Transfers a user's events to another user, or to administrators only. */
    handOver(from: string, to: string | null): void {
      // With null, everybody could read them. Without a new owner they keep the deleted user's id.
      if (to === null) return;
      store.write(() => sqlite.prepare("UPDATE events SET user_id = ? WHERE user_id = ?").run(to, from));
    },
    /**
     * Removes some events that are older than that time (ms since the epoch) or beyond the limit. @returns whether
     * there may be more.
     */
    prune(before: number): boolean {
      const oldest = lastId() - LIMITS.eventKeepRows;
      // Lower ids are older events, so the first ones tell whether there is anything to do. Events that were written
      // while the clock was ahead delay those after them, until their time has come or there are too many events.
      const remove = sqlite.prepare(
        `DELETE FROM events WHERE id IN (SELECT id FROM events ORDER BY id LIMIT ${LIMITS.pruneRows})
           AND (id <= ? OR at < ?)`,
      );
      const { changes } = store.write(() => remove.run(oldest, toTimestamp(before)));
      return changes === LIMITS.pruneRows;
    },
  };
}
