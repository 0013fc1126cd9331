/** The budgets that a call counts towards: whose, over which time, up to how much. */
import { DAY_MS, timestamp } from "../../core/clock.ts";
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

/** Who is about to spend. */
export interface Spender {
  agentId?: string | undefined;
  runId?: string | undefined;
  /** Outside a run, a session with all that it started counts as a run of its own. */
  sessionId?: string | undefined;
  userId?: string | undefined;
}

/** Limits beside the settings', USD; null or absent: the settings' count. */
export interface OwnLimits {
  /** The run's own, from its pipeline or its start. */
  run?: number | null | undefined;
  agentPerRun?: number | null | undefined;
  agentPerDay?: number | null | undefined;
  /** The nearest session with a budget, from the spender's upwards. */
  purse?: Purse | undefined;
  /** The session at the root of the spender's tree, and what the whole tree has spent. */
  root?: { id: string; spentNano: number } | undefined;
}

interface Purse {
  sessionId: string;
  limitUsd: number;
  /** Spent in it and below it, and set aside for sessions below it with budgets of their own. */
  takenNano: number;
}

export interface Budget {
  scope: BudgetScope;
  /** Names the run, agent or user. */
  subject: string;
  /** Columns that the counted calls have in common. */
  match: Partial<Record<"agent_id" | "run_id" | "session_id" | "user_id", string>>;
  /** A session that keeps count of itself and all below it, instead of `match`; billionths of a dollar. */
  kept?: { by: string; nano: number } | undefined;
  /** Counted from here on, RFC 3339; null: from the beginning. */
  since: string | null;
  /** When it resets; null: never. */
  resetsAt: string | null;
  limitUsd: number;
}

const day = (ms: number, days = 0): string => timestamp(Math.floor(ms / DAY_MS + days) * DAY_MS);
const month = (ms: number, months = 0): string => {
  const date = new Date(ms);
  return timestamp(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1));
};

/** Those with a limit, narrowest first. Days and months are UTC. */
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
    const since = period === "whole" ? null : period === "day" ? day(now) : month(now);
    const resetsAt = period === "whole" ? null : period === "day" ? day(now, 1) : month(now, 1);
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

/** Whether a spender's calls count towards the budget. @param keepers sessions that keep count of what it spends. */
export function countsTowards({ match, kept }: Budget, spender: Spender, keepers: readonly string[]): boolean {
  return (
    (kept === undefined || keepers.includes(kept.by)) &&
    (match.agent_id === undefined || match.agent_id === spender.agentId) &&
    (match.run_id === undefined || match.run_id === spender.runId) &&
    (match.session_id === undefined || match.session_id === spender.sessionId) &&
    (match.user_id === undefined || match.user_id === spender.userId)
  );
}
