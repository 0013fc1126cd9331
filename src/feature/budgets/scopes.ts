/** The budgets that a model call counts towards: for each its subject, its period and its limit. */
import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import type { Settings } from "../settings/model.ts";

export const BUDGET_SCOPES = [
  "session",
  "run",
  "agent_run",
  "agent_day",
  "user_day",
  "user_month",
  "instance_day",
  "instance_month",
] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** The agent, run, session and user that are about to spend. */
export interface Spender {
  agentId?: string | undefined;
  runId?: string | undefined;
  /** Outside a run, a session and all sessions that it started count as one run. */
  sessionId?: string | undefined;
  userId?: string | undefined;
}

/** Limits that override the settings, USD. Null or absent: the setting applies. */
export interface OwnLimits {
  /** The run's own limit, from its pipeline or from the request that started it. */
  run?: number | null | undefined;
  agentPerRun?: number | null | undefined;
  agentPerDay?: number | null | undefined;
  /** The budget of the nearest session that has one: the spender's own, else the closest above it. */
  purse?: Purse | undefined;
  /** The session at the root of the spender's tree, and what the whole tree has spent. */
  root?: { id: string; spentNano: number } | undefined;
}

interface Purse {
  sessionId: string;
  limitUsd: number;
  /**
   * Spent in the session and those below it, plus what is reserved for sessions below it that have their own budgets.
   */
  takenNano: number;
}

export interface Budget {
  scope: BudgetScope;
  /** Id of the session, run, agent or user, or `instance`; for `agent_run` the ids of the agent and the run. */
  subject: string;
  /** Column values that the counted calls have in common. */
  match: Partial<Record<"agent_id" | "run_id" | "session_id" | "user_id", string>>;
  /** Instead of `match`: the session that keeps the total of itself and all below it, in billionths of a dollar. */
  kept?: { by: string; nano: number } | undefined;
  /** Calls count from this time on, RFC 3339. Null: from the beginning. */
  since: string | null;
  /** When the budget resets. Null: never. */
  resetsAt: string | null;
  limitUsd: number;
}

const toDayStart = (ms: number, days = 0): string => toTimestamp(Math.floor(ms / DAY_MS + days) * DAY_MS);
const toMonthStart = (ms: number, months = 0): string => {
  const date = new Date(ms);
  return toTimestamp(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1));
};

/** The budgets that have a limit, narrowest first. Days and months are UTC. */
export function budgetsOf(spender: Spender, limits: Settings["budgets"], own: OwnLimits, now: number): Budget[] {
  const { agentId, runId, sessionId, userId } = spender;
  const budgets: Budget[] = [];
  const add = (
    scope: BudgetScope,
    subject: string | undefined,
    match: Budget["match"],
    period: "whole" | "day" | "month",
    limitUsd: number | null | undefined,
    kept?: Budget["kept"],
  ) => {
    if (subject === undefined || limitUsd === null || limitUsd === undefined) return;
    const since = period === "whole" ? null : period === "day" ? toDayStart(now) : toMonthStart(now);
    const resetsAt = period === "whole" ? null : period === "day" ? toDayStart(now, 1) : toMonthStart(now, 1);
    budgets.push({ scope, subject, match, since, resetsAt, limitUsd, kept });
  };
  const { purse, root } = own;
  if (purse)
    add("session", purse.sessionId, {}, "whole", purse.limitUsd, { by: purse.sessionId, nano: purse.takenNano });
  const run = runId !== undefined ? { run_id: runId } : sessionId !== undefined ? { session_id: sessionId } : {};
  const runSubject = runId ?? sessionId;
  const agent = agentId === undefined ? {} : { agent_id: agentId };
  const user = userId === undefined ? {} : { user_id: userId };
  add(
    "agent_run",
    agentId && runSubject && `${agentId} ${runSubject}`,
    { ...run, ...agent },
    "whole",
    own.agentPerRun ?? limits.agent_per_run_usd,
  );
  const runUsd = own.run ?? limits.run_usd;
  if (runId === undefined && root) add("run", root.id, {}, "whole", runUsd, { by: root.id, nano: root.spentNano });
  else add("run", runSubject, run, "whole", runUsd);
  add("agent_day", agentId, agent, "day", own.agentPerDay ?? limits.agent_per_day_usd);
  add("user_day", userId, user, "day", limits.user_per_day_usd);
  add("user_month", userId, user, "month", limits.user_per_month_usd);
  add("instance_day", "instance", {}, "day", limits.instance_per_day_usd);
  add("instance_month", "instance", {}, "month", limits.instance_per_month_usd);
  return budgets;
}

/**
 * Whether a spender's calls count towards the budget. @param keepers sessions that keep the total of what it spends.
 */
export function countsTowards({ match, kept }: Budget, spender: Spender, keepers: readonly string[]): boolean {
  return (
    (kept === undefined || keepers.includes(kept.by)) &&
    (match.agent_id === undefined || match.agent_id === spender.agentId) &&
    (match.run_id === undefined || match.run_id === spender.runId) &&
    (match.session_id === undefined || match.session_id === spender.sessionId) &&
    (match.user_id === undefined || match.user_id === spender.userId)
  );
}
