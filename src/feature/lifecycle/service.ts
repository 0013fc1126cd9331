/** The timeline, read from the event log, and the live sessions. */

import { type Clock, toTimestamp } from "../../core/clock.ts";
import { membersOf } from "../../core/is-object.ts";
import { NO_AGENT } from "../../core/no-agent.ts";
import { ownJson } from "../../core/own-json.ts";
import { timeOf } from "../../core/time-of.ts";
import { kindOf } from "../../engine/kinds.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, numberAfter, type Page } from "../../http/list.ts";
import { allOf } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { buildReadCondition, mayRead, WHOSE, WHOSE_SESSIONS } from "../../store/whose.ts";
import type { SessionRow } from "../sessions/service.ts";
import { type DayQuery, readDay } from "./day.ts";
import { type AgentDay, type LiveSession, TIMELINE_KINDS, type TimelineItem } from "./model.ts";
import { keyOfStep, namesOfRuns, namesOfSessions, namesOfSteps } from "./named.ts";

interface TimelineFilter {
  agent_id?: string | undefined;
  kind?: TimelineItem["kind"] | undefined;
  /** RFC 3339, in any zone. */
  since?: string | undefined;
}

export type Lifecycle = ReturnType<typeof createLifecycle>;

interface LifecycleDeps {
  store: Store;
  clock: Pick<Clock, "now">;
  /** Sessions that have not ended, oldest first. */
  live(): SessionRow[];
  /** Container of each session that has one. Empty when the container engine does not answer. */
  containers(): Promise<ReadonlyMap<string, string>>;
}

interface EventRow {
  id: number;
  at: string;
  kind: TimelineItem["kind"];
  agent_id: string;
  run_id: string | null;
  step_id: string | null;
  session_id: string | null;
  data: string;
}

/**
 * The condition on kinds, in the same words as in the indexes `events_timeline…`: SQLite uses a partial index only if
 * the words agree.
 */
const WHICH = TIMELINE_KINDS.map((kind) => `'${kind}'`).join(", ");

function titleOf({ kind, step_id }: EventRow, data: Record<string, unknown>): string {
  const readText = (name: string) => (typeof data[name] === "string" ? data[name] : "");
  const error = membersOf(data["error"])["message"];
  const why = typeof error === "string" ? `: ${error}` : "";
  switch (kind) {
    case "activity":
      return readText("title") || "Something was done";
    case "session_started":
      return `Began: ${readText("kind") || "work"}${step_id ? `, step ${step_id}` : ""}`;
    case "session_ended":
      return `Ended: ${readText("status")}${why}`;
    case "turn_ended":
      return `Answered: ${readText("status")}${why}`;
    case "step_complete":
      return `Step ${step_id ?? ""} is complete`;
    case "pulse_complete":
      return `Routine ${readText("name")}: ${readText("summary").split("\n")[0] || "done"}`;
    case "pulse_failed":
      return `Routine ${readText("name")} ${readText("status") || "failed"}: ${readText("reason")}`;
    case "step_failed":
      return `Step ${step_id ?? ""} ${readText("status") || "failed"}${why}`;
  }
}

export function createLifecycle({ store, clock, live, containers }: LifecycleDeps) {
  return {
    /** Newest first; only the events that the caller may read. */
    timeline({ agent_id, kind, since }: TimelineFilter, page: Page, caller: Caller): ListAnswer<TimelineItem> {
      const shown = `agent_id IS NOT NULL AND kind IN (${WHICH})`;
      // Ids of events follow their times, so reading can stop at the newest event that is too old.
      const older = `SELECT id FROM events INDEXED BY events_timeline WHERE ${shown} AND at < ? ORDER BY id DESC LIMIT 1`;
      const from = since === undefined ? undefined : toTimestamp(timeOf(since, "since"));
      const before = numberAfter(page);
      const { where, values } = allOf(
        [shown],
        agent_id === undefined ? undefined : ["agent_id = ?", agent_id],
        kind === undefined ? undefined : ["kind = ?", kind],
        from === undefined ? undefined : [`at >= ? AND id > coalesce((${older}), 0)`, from, from],
        before === undefined ? undefined : ["id < ?", before],
        buildReadCondition(caller, WHOSE.events),
      );
      // Without a filter, SQLite's planner would read by kind and then sort all rows, so the index is named.
      const index = (agent_id ?? kind) === undefined ? "INDEXED BY events_timeline" : "";
      const rows = store.sqlite
        .prepare<unknown[], EventRow>(
          `SELECT id, at, kind, agent_id, run_id, step_id, session_id, data FROM events ${index}
           ${where} ORDER BY id DESC LIMIT ?`,
        )
        .all(...values, page.limit + 1);
      const runs = [...new Set(rows.flatMap(({ run_id }) => run_id ?? []))];
      const names = namesOfRuns(store, runs);
      const steps = namesOfSteps(store, runs);
      const sessions = namesOfSessions(
        store,
        rows.flatMap(({ session_id }) => session_id ?? []),
      );
      return listAnswer(
        rows,
        page,
        ({ id }) => String(id),
        (row) => {
          const data = ownJson<Record<string, unknown>>(row.data);
          const { id, at, kind, agent_id, run_id, step_id, session_id } = row;
          const step_name = steps.get(keyOfStep(run_id ?? "", step_id ?? ""));
          return {
            id,
            at,
            kind,
            agent_id,
            title: titleOf(row, data),
            data,
            ...(run_id === null ? {} : { run_id }),
            ...(step_id === null ? {} : { step_id }),
            ...(step_name === undefined ? {} : { step_name }),
            ...(session_id === null ? {} : { session_id }),
            ...(session_id === null ? {} : sessions.get(session_id)),
            ...(run_id === null ? {} : names.get(run_id)),
          };
        },
      );
    },
    /** Spans of work in the caller's own sessions, or in all for an administrator. @throws Problem 422. */
    day: (query: DayQuery, caller: Caller): AgentDay => readDay(store, query, clock.now(), caller),
    /** The caller's own live sessions, or all for an administrator; newest first. */
    async sessions(page: Page, caller: Caller): Promise<ListAnswer<LiveSession>> {
      const mine = live()
        .filter((row) => mayRead(caller, WHOSE_SESSIONS.live, row))
        .filter(({ kind, status }) => status !== "open" || kindOf(kind).listed === "open")
        .reverse();
      const start = page.after === null ? 0 : mine.findIndex(({ id }) => id < page.after!);
      const rows = start < 0 ? [] : mine.slice(start, start + page.limit + 1);
      const names = namesOfRuns(
        store,
        rows.flatMap(({ run_id }) => run_id ?? []),
      );
      const inContainers = rows.length === 0 ? new Map<string, string>() : await containers();
      return listAnswer(
        rows,
        page,
        ({ id }) => id,
        (row) => ({
          id: row.id,
          agent_id: row.agent_id === NO_AGENT ? null : row.agent_id,
          kind: row.kind,
          title: row.title ?? names.get(row.run_id ?? "")?.run_title ?? null,
          run_id: row.run_id,
          project_id: row.project_id,
          status: row.status as LiveSession["status"],
          started_at: row.created_at,
          last_activity_at: row.last_activity_at,
          container_id: inContainers.get(row.id) ?? null,
        }),
      );
    },
  };
}
