/** Reading the durable event log, and keeping it bounded. */
import type { Clock } from "../core/clock.ts";
import { timestamp } from "../core/clock.ts";
import type { EventRefs, SkepEvent } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
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

export interface EventLog {
  /** Events after `after`, oldest first, at most `limit`. */
  read(after: number, limit: number, filter?: EventFilter): SkepEvent[];
  /** Newest id, 0 when nothing ever happened. */
  lastId(): number;
  /** Newest id of a session's events of these kinds, 0 when there is none. */
  lastOf(sessionId: string, kinds: readonly string[]): number;
  /** Oldest id still kept; `lastId() + 1` when none is. */
  firstId(): number;
  /** Gives a user's events to another, or to nobody's eyes but administrators'. */
  handOver(from: string, to: string | null): void;
  /** Removes what is older than the limits say. Returns how many. */
  prune(): number;
}

/** True if the event passes the filter. */
export function matches(event: SkepEvent, filter: EventFilter): boolean {
  return (
    (filter.run_id === undefined || event.run_id === filter.run_id) &&
    (filter.session_id === undefined || event.session_id === filter.session_id) &&
    (filter.agent_id === undefined || event.agent_id === filter.agent_id) &&
    (filter.swarm_id === undefined || event.swarm_id === filter.swarm_id) &&
    (filter.project_id === undefined || event.project_id === filter.project_id) &&
    (filter.kinds === undefined || filter.kinds.includes(event.kind))
  );
}

function present(row: EventRow): SkepEvent {
  const { id, kind, at, data, ...refs } = row;
  const known = Object.fromEntries(Object.entries(refs).filter(([, value]) => value !== null)) as EventRefs;
  return { id, kind, at, ...known, data: JSON.parse(data) };
}

export function createEventLog(store: Store, clock: Clock): EventLog {
  const { sqlite } = store;
  const last = sqlite.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'").pluck();
  const first = sqlite.prepare("SELECT min(id) FROM events").pluck();
  const lastId = (): number => Number(last.get() ?? 0);
  const newest = sqlite
    .prepare(
      "SELECT id FROM events WHERE session_id = ? AND kind IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT 1",
    )
    .pluck();
  return {
    lastId,
    lastOf: (sessionId, kinds) => Number(newest.get(sessionId, JSON.stringify(kinds)) ?? 0),
    firstId: () => Number(first.get() ?? lastId() + 1),
    read(after, limit, filter = {}) {
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
      const rows = sqlite
        .prepare(`SELECT * FROM events WHERE ${where.join(" AND ")} ORDER BY id LIMIT @limit`)
        .all(values);
      return (rows as EventRow[]).map(present);
    },
    handOver(from, to) {
      // Null would make them everybody's: without an heir they keep the name of who is gone.
      if (to === null) return;
      store.write(() => sqlite.prepare("UPDATE events SET user_id = ? WHERE user_id = ?").run(to, from));
    },
    prune() {
      const oldest = lastId() - LIMITS.eventKeepRows;
      return store.write(
        () =>
          sqlite
            .prepare(
              "DELETE FROM events WHERE id IN (SELECT id FROM events WHERE id <= ? OR at < ? ORDER BY id LIMIT 20000)",
            )
            .run(oldest, timestamp(clock.now() - LIMITS.eventKeepMs)).changes,
      );
    },
  };
}
