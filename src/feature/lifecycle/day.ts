/** When each agent was at work: the executions within a span of time. */

import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { invalidField } from "../../core/errors.ts";
import { firstLine } from "../../core/first-line.ts";
import { NO_AGENT } from "../../core/no-agent.ts";
import { inSeenProject } from "../../core/ownership.ts";
import { timeOf } from "../../core/time-of.ts";
import type { Caller } from "../../http/caller.ts";
import type { Store } from "../../store/store.ts";
import type { AgentDay, AgentSpan } from "./model.ts";
import { keyOfStep, namesOfSteps } from "./named.ts";

const MOST_DAYS = 31;
/** Most spans in one answer. */
const MOST_SPANS = 2_000;

interface SpanRow extends Omit<AgentSpan, "title" | "status" | "step_name"> {
  status: string;
  text: string | null;
}

const ENDS: Record<string, AgentSpan["status"]> = {
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
  interrupted: "cancelled",
};

export interface DayQuery {
  from?: string | undefined;
  to?: string | undefined;
}

/** @throws Problem 422 for a time range that is empty or too long. */
export function readDay(store: Pick<Store, "statement">, query: DayQuery, now: number, caller: Caller): AgentDay {
  const to = query.to === undefined ? now : timeOf(query.to, "to");
  const from = query.from === undefined ? to - DAY_MS : timeOf(query.from, "from");
  if (to <= from) throw invalidField("to", "Must be later than from");
  if (to - from > MOST_DAYS * DAY_MS) throw invalidField("from", `Must be at most ${MOST_DAYS} days before to`);
  // Executions that began before the range may reach into it. No execution lasts longer than a day, so one day earlier
  // is enough.
  const [seen, ...ofProjects] = inSeenProject(caller, "s.project_id") ?? ["1"];
  const own = caller.admin ? [] : [caller.userId ?? ""];
  const values = [toTimestamp(from - DAY_MS), toTimestamp(to), toTimestamp(from), ...own, ...ofProjects];
  const rows = store
    .statement<SpanRow>(
      `SELECT e.id AS execution_id, e.agent_id, e.session_id, s.kind, e.run_id, s.step_id, e.status, e.started_at,
       e.finished_at, coalesce(substr(r.task_description, 1, 400), s.title) AS text
     FROM executions e JOIN sessions s ON s.id = e.session_id LEFT JOIN runs r ON r.id = e.run_id
     WHERE e.started_at >= ? AND e.started_at < ? AND (e.finished_at IS NULL OR e.finished_at > ?)
       AND e.agent_id <> '${NO_AGENT}' ${caller.admin ? "" : "AND s.user_id = ?"} AND ${seen}
     ORDER BY e.started_at DESC LIMIT ${MOST_SPANS + 1}`,
    )
    .all(values);
  const steps = namesOfSteps(store, [...new Set(rows.flatMap(({ run_id }) => run_id ?? []))]);
  return {
    from: toTimestamp(from),
    to: toTimestamp(to),
    items: rows
      .slice(0, MOST_SPANS)
      .reverse()
      .map(({ text, status, ...row }) => {
        const step_name = steps.get(keyOfStep(row.run_id ?? "", row.step_id ?? ""));
        return {
          ...row,
          title: text === null ? null : firstLine(text),
          ...(step_name === undefined ? {} : { step_name }),
          status: row.finished_at === null ? "running" : (ENDS[status] ?? "failed"),
        };
      }),
    cut: rows.length > MOST_SPANS,
  };
}
