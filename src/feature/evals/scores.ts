/** Computes sums and chances over an eval's attempts. */
import { toUsd } from "../../core/money.ts";
import type { evals } from "../../store/tables/evals.ts";
import { passAllK, passAtK } from "./estimators.ts";
import type { Eval, EvalComparison, EvalScore } from "./model.ts";
import type { AttemptRow } from "./store.ts";

export type EvalRow = typeof evals.$inferSelect;

const OPEN: ReadonlySet<AttemptRow["status"]> = new Set(["queued", "running"]);
export const isOpen = ({ status }: AttemptRow): boolean => OPEN.has(status);
const COUNTS: ReadonlySet<AttemptRow["status"]> = new Set(["passed", "failed", "error"]);
/** Whether the attempt has an outcome that counts: it was neither skipped nor canceled. */
const isCounted = ({ status }: AttemptRow): boolean => COUNTS.has(status);

const keyOf = ({ worker, agent_id, model, harness }: AttemptRow): string =>
  JSON.stringify([worker, agent_id, model, harness]);
const countStatus = (attempts: readonly AttemptRow[], status: AttemptRow["status"]): number =>
  attempts.filter((one) => one.status === status).length;
const total = (attempts: readonly AttemptRow[], of: (one: AttemptRow) => number): number =>
  attempts.reduce((sum, one) => sum + of(one), 0);

const sumsOf = (attempts: readonly AttemptRow[]) => ({
  passed: countStatus(attempts, "passed"),
  failed: countStatus(attempts, "failed"),
  errors: countStatus(attempts, "error"),
  cost_usd: toUsd(total(attempts, ({ cost_nano }) => cost_nano)),
  calls_without_price: total(attempts, (one) => one.calls_without_price),
  tokens: total(attempts, ({ tokens }) => tokens),
});

/** The mean over the tasks with at least k attempts that count; null when there is no such task. */
function averageChance(attempts: readonly AttemptRow[], k: number, of: typeof passAtK): number | null {
  const chances = [...Map.groupBy(attempts.filter(isCounted), ({ task }) => task).values()]
    .filter(({ length }) => length >= k)
    .map((tries) => of(tries.length, countStatus(tries, "passed"), k));
  return chances.length === 0 ? null : chances.reduce((sum, one) => sum + one, 0) / chances.length;
}

export function scoresOf({ attempts: k }: EvalRow, attempts: readonly AttemptRow[]): EvalScore[] {
  return [...Map.groupBy(attempts, keyOf).values()].map((own) => {
    const { worker, agent_id, model, harness } = own[0]!;
    const worked = own.flatMap(({ duration_ms }) => duration_ms ?? []);
    return {
      worker,
      agent_id,
      model,
      harness,
      ended: own.filter(isCounted).length,
      total: own.length,
      ...sumsOf(own),
      pass_at_k: averageChance(own, k, passAtK),
      pass_all_k: averageChance(own, k, passAllK),
      tool_errors: total(own, ({ tool_errors }) => tool_errors),
      duration_ms: worked.length === 0 ? null : Math.round(worked.reduce((sum, one) => sum + one, 0) / worked.length),
    };
  });
}

/** What an oracle run found wrong with the tasks. */
export function problemsOf(attempts: readonly AttemptRow[]): { task: string; message: string }[] {
  return attempts.flatMap(({ task, worker, status, reason }) => {
    if (status === "error") return [{ task, message: reason ?? "It could not be tried." }];
    if (worker === "solution" && status === "failed")
      return [{ task, message: `The reference solution does not pass. ${reason ?? ""}`.trim() }];
    if (worker === "nothing" && status === "passed")
      return [{ task, message: "The tests pass when nothing was done: they do not test the task." }];
    return [];
  });
}

export function comparisonOf(
  before: { shown: Eval; attempts: AttemptRow[] },
  after: { shown: Eval; attempts: AttemptRow[] },
): EvalComparison {
  const groupByPlace = (attempts: readonly AttemptRow[]) =>
    Map.groupBy(attempts, (one) => JSON.stringify([one.task, keyOf(one)]));
  const [old, now] = [groupByPlace(before.attempts), groupByPlace(after.attempts)];
  const countPasses = (own: readonly AttemptRow[] | undefined) =>
    own === undefined ? null : { passed: countStatus(own, "passed"), ended: own.filter(isCounted).length };
  const tasks = [...new Set([...old.keys(), ...now.keys()])].map((key) => {
    const { task, worker, agent_id, model, harness } = (now.get(key) ?? old.get(key)!)[0]!;
    return {
      task,
      worker,
      agent_id,
      model,
      harness,
      before: countPasses(old.get(key)),
      after: countPasses(now.get(key)),
    };
  });
  const toRate = (one: { passed: number; ended: number } | null) =>
    one && one.ended > 0 ? one.passed / one.ended : null;
  const moved = tasks.map((one) => {
    const [was, is] = [toRate(one.before), toRate(one.after)];
    return was === null || is === null ? 0 : Math.sign(is - was);
  });
  return {
    before: before.shown,
    after: after.shown,
    better: moved.filter((one) => one > 0).length,
    worse: moved.filter((one) => one < 0).length,
    tasks,
  };
}
