/**
 * Budgets: they stop a call that would pass a limit, and warn before that. What was spent is always the sum of the
 * logged calls, so a restart changes nothing. Calls under way hold their estimated cost, so that parallel calls cannot
 * pass a limit together.
 */

import { toTimestamp } from "../../core/clock.ts";
import { ADMINISTRATORS, type EventRefs } from "../../core/events.ts";
import { toNano, toUsd } from "../../core/money.ts";
import type { Store, WriteTx } from "../../store/store.ts";
import { budgetNotices } from "../../store/tables/usage.ts";
import type { Core } from "../feature.ts";
import type { Notifications } from "../notifications/service.ts";
import type { Settings } from "../settings/model.ts";
import type { BudgetState, LlmCall } from "../usage/model.ts";
import { budgetExceeded, budgetWarning } from "./events.ts";
import { type Budget, type BudgetScope, budgetsOf, countsTowards, type OwnLimits, type Spender } from "./scopes.ts";

interface BudgetsDeps extends Pick<Core, "store" | "clock"> {
  limits(): Settings["budgets"];
  /** Limits that the agent, run or pipeline sets. */
  ownLimits?(spender: Spender): OwnLimits;
  notify: Notifications["notify"];
}

interface Exceeded {
  scope: BudgetScope;
  limitUsd: number;
  spentUsd: number;
  /** Held for other sessions' calls that are under way. */
  heldUsd: number;
  resetsAt: string | null;
}

/** A call with its estimated cost. */
type Estimated = Spender & { estimateUsd: number; isFree?: boolean };
/** A call whose price is between `leastUsd` and `ampleUsd`. */
type Priced = Spender & { leastUsd: number; ampleUsd: number; isFree: boolean };

export type Budgets = ReturnType<typeof createBudgets>;

const TITLES: Record<BudgetScope, string> = {
  session: "Budget of a session and all that it started",
  run: "Budget of a run",
  agent_run: "Budget of an agent in a run",
  agent_day: "Daily budget of an agent",
  user_day: "Your daily budget",
  user_month: "Your monthly budget",
  instance_day: "Daily budget of the instance",
  instance_month: "Monthly budget of the instance",
};

export function createBudgets({ store, clock, limits, ownLimits = () => ({}), notify }: BudgetsDeps) {
  const spentBy = createSpent(store);
  const notices = store.rows(budgetNotices);
  const holds = new Map<string, { spender: Spender; keepers: readonly string[]; nano: number }>();
  const hold = (spender: Spender, budgets: readonly Budget[], nano: number): void => {
    if (spender.sessionId === undefined || nano <= 0) return;
    const keepers = budgets.flatMap(({ kept }) => kept?.by ?? []);
    holds.set(spender.sessionId, { spender, keepers, nano });
  };
  const listBudgets = (spender: Spender): Budget[] => budgetsOf(spender, limits(), ownLimits(spender), clock.now());
  const heldBy = (budget: Budget, except: string | undefined): number => {
    let sum = 0;
    for (const [sessionId, { spender, keepers, nano }] of holds)
      if (sessionId !== except && countsTowards(budget, spender, keepers)) sum += nano;
    return sum;
  };
  /** True only the first time for this key. */
  const claimNotice = (key: string): boolean =>
    store.write(() => notices.insertIfNew({ key, created_at: toTimestamp(clock.now()) }));
  const keyOf = ({ scope, subject, since, limitUsd }: Budget) => [scope, subject, since ?? "", limitUsd].join("\n");
  const dataOf = (budget: Budget, spent: number) => ({
    scope: budget.scope,
    subject: budget.subject,
    limit_usd: budget.limitUsd,
    spent_usd: toUsd(spent),
    resets_at: budget.resetsAt,
  });
  /**
   * A user is notified of the user's own budgets, administrators of the instance's, and everybody who may see a run of
   * that run's.
   */
  const refsOf = ({ scope }: Budget, spender: Spender): EventRefs => {
    const refs = { run_id: spender.runId, session_id: spender.sessionId, agent_id: spender.agentId };
    return { ...refs, user_id: scope.startsWith("instance") ? ADMINISTRATORS : spender.userId };
  };
  const report = (budget: Budget, spender: Spender, spent: number, level: "warning" | "error"): void => {
    const { scope, limitUsd, resetsAt } = budget;
    const isUsedUp = spent >= toNano(limitUsd);
    const refused = isUsedUp ? "is used up" : "is too small for the next call";
    const word = level === "error" ? refused : `is used to ${Math.floor(percentOf(spent, limitUsd))} %`;
    const reset = resetsAt === null ? "" : ` It resets at ${resetsAt}.`;
    notify({
      level,
      title: `${TITLES[scope]} ${word}`,
      detail: `$${toUsd(spent).toFixed(4)} of $${limitUsd} spent.${reset} Limits are in the settings.`,
      key: `budget:${scope}:${budget.subject}:${budget.since ?? ""}`,
      userId: scope.startsWith("instance") ? undefined : spender.userId,
    });
  };
  const refuse = (budget: Budget, spender: Spender, spent: number, held: number): Exceeded => {
    store.write(({ emit }) => {
      if (!claimNotice(`exceeded\n${keyOf(budget)}\n${spender.sessionId ?? ""}`)) return;
      emit(budgetExceeded, { ...refsOf(budget, spender), data: dataOf(budget, spent) });
      report(budget, spender, spent, "error");
    });
    const { scope, limitUsd, resetsAt } = budget;
    return { scope, limitUsd, spentUsd: toUsd(spent), heldUsd: toUsd(held), resetsAt };
  };
  const admit = ({ leastUsd, ampleUsd, isFree, ...spender }: Priced): Exceeded | { isAmple: boolean } => {
    if (isFree) return { isAmple: true };
    const [least, ample] = [Math.max(0, toNano(leastUsd)), Math.max(0, toNano(ampleUsd))];
    const budgets = listBudgets(spender);
    let isAmple = true;
    for (const budget of budgets) {
      const limit = toNano(budget.limitUsd);
      const spent = spentBy(budget);
      const held = heldBy(budget, spender.sessionId);
      if (spent + held + least > limit || (limit > 0 && spent >= limit)) return refuse(budget, spender, spent, held);
      if (ample > (limit - spent - held) / 2) isAmple = false;
    }
    hold(spender, budgets, isAmple ? ample : least);
    return { isAmple };
  };

  return {
    /**
     * Checks whether a call of this estimated cost fits every budget. If so, it returns undefined and holds the
     * estimate for the session until `onModelCall` or `release`. A call known to be free always fits. A session's first
     * refusal emits `budget_exceeded`.
     */
    check({ estimateUsd, isFree = false, ...spender }: Estimated): Exceeded | undefined {
      const found = admit({ ...spender, leastUsd: estimateUsd, ampleUsd: estimateUsd, isFree });
      return "scope" in found ? found : undefined;
    },
    /**
     * Like `check`, for a call whose price is between `leastUsd` and `ampleUsd`. It holds `ampleUsd` if that is at most
     * half of what every budget has left, so that parallel calls still find room; else it holds `leastUsd`.
     * @returns the exceeded budget when not even `leastUsd` fits; `isAmple` false: the call must stay within
     * `leastUsd`.
     */
    admit,
    /**
     * Call when a model call is logged: it ends the call's hold. Each budget that reaches the warning mark emits one
     * event per period.
     */
    onModelCall({ emit, after }: WriteTx, call: LlmCall): void {
      const { agent_id, run_id, session_id, user_id } = call;
      if (session_id !== null) after(() => holds.delete(session_id));
      const [runId, sessionId, userId] = [run_id ?? undefined, session_id ?? undefined, user_id ?? undefined];
      const spender = { agentId: agent_id, runId, sessionId, userId };
      const { warn_at_percent } = limits();
      for (const budget of listBudgets(spender)) {
        if (budget.limitUsd === 0) continue;
        const spent = spentBy(budget);
        if (percentOf(spent, budget.limitUsd) < warn_at_percent || !claimNotice(`warning\n${keyOf(budget)}`)) continue;
        const data = { ...dataOf(budget, spent), percent: percentOf(spent, budget.limitUsd) };
        emit(budgetWarning, { ...refsOf(budget, spender), data });
        report(budget, spender, spent, "warning");
      }
    },
    /** Ends the session's hold, when its call is not made. */
    release: (sessionId: string): void => void holds.delete(sessionId),
    /** The current state of every budget of that user and of the instance. */
    states: (userId: string | undefined): BudgetState[] =>
      listBudgets({ userId }).map((budget) => {
        const spent = spentBy(budget);
        return {
          scope: budget.scope,
          limit_usd: budget.limitUsd,
          spent_usd: toUsd(spent),
          remaining_usd: Math.max(0, toUsd(toNano(budget.limitUsd) - spent)),
          percent: budget.limitUsd === 0 ? 100 : percentOf(spent, budget.limitUsd),
          resets_at: budget.resetsAt,
        };
      }),
    prune(before: number): void {
      store.write(() => notices.remove(["created_at < ?", toTimestamp(before)]));
    },
  };
}

const percentOf = (nano: number, limitUsd: number): number => Math.round((toUsd(nano) / limitUsd) * 10_000) / 100;

/** What the budget's calls cost, in billionths of a dollar. The query reads only an index that contains the costs. */
function createSpent(store: Store): (budget: Budget) => number {
  const statements = new Map<string, ReturnType<Store["sqlite"]["prepare"]>>();
  return ({ match, since, kept }) => {
    if (kept) return kept.nano;
    const columns = Object.keys(match);
    const where = [...columns.map((column) => `${column} = ?`), ...(since === null ? [] : ["created_at >= ?"])];
    const text = `SELECT coalesce(sum(cost_nano), 0) FROM llm_calls WHERE ${where.join(" AND ") || "1"}`;
    let statement = statements.get(text);
    if (!statement) {
      statement = store.sqlite.prepare(text).pluck();
      statements.set(text, statement);
    }
    return Number(statement.get([...Object.values(match), ...(since === null ? [] : [since])]));
  };
}
