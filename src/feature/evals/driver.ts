/**
 * Carries an eval out: starts its attempts, a few at a time, and takes what came of their runs. The rows say what is to be
 * done, so that a server that was killed goes on where it was: each attempt is begun in the transaction that makes its run.
 */
import { actOnEach } from "../../core/act-on-each.ts";
import { type Clock, msBetween, timestamp } from "../../core/clock.ts";
import { isProblem, type Problem } from "../../core/errors.ts";
import { toUsd } from "../../core/money.ts";
import type { ProjectRoles } from "../../core/ownership.ts";
import { isRunEnd } from "../../core/run-states.ts";
import { type Caller, LOCAL_ADMIN } from "../../http/caller.ts";
import type { Store, WriteTx } from "../../store/store.ts";
import { users } from "../../store/tables/accounts.ts";
import { evals, evalTasks, type PackedTask } from "../../store/tables/evals.ts";
import { executions } from "../../store/tables/sessions.ts";
import type { RunsService } from "../runs/service.ts";
import { definitionOf, EVAL_PIPELINE, WORK_STEP, type Worker } from "./definition.ts";
import { evalChanged } from "./events.ts";
import { outcomeOf } from "./outcome.ts";
import { type EvalRow, isOpen } from "./scores.ts";
import type { AttemptRow, AttemptStore } from "./store.ts";

interface DriverDeps {
  store: Store;
  clock: Clock;
  access: ProjectRoles;
  attempts: AttemptStore;
  /** The model that plays recorded replies. */
  replayModel: string;
  runs: Pick<RunsService, "create" | "cancel" | "rows">;
}

export interface Driver {
  /** Takes outcomes and starts what may start. */
  advance(evalId: string): void;
  /** All that have not ended. */
  advanceAll(): void;
  /** An attempt's run has ended. */
  runEnded(runId: string): void;
  /** Ends its runs and everything that has not begun. */
  cancel(row: EvalRow, caller: Caller): void;
  emit(tx: WriteTx, row: EvalRow, change: "created" | "progress" | "done" | "cancelled" | "deleted"): void;
}

/** Answers to a new run that say "later": too many runs, no room, no engine. */
const LATER: ReadonlySet<number> = new Set([413, 429, 503]);

export function createDriver({ store, clock, access, attempts, replayModel, runs }: DriverDeps): Driver {
  const rows = store.rows(evals);
  const tasks = store.rows(evalTasks);
  const work = store.rows(executions);
  const accounts = store.rows(users);
  const now = () => timestamp(clock.now());
  const emit: Driver["emit"] = (tx, { id, name, user_id }, change) =>
    tx.emit(evalChanged, { user_id: user_id ?? undefined, data: { eval_id: id, name, change } });

  /** Undefined: its user may not work any more. */
  function callerOf({ user_id }: EvalRow): Caller | undefined {
    if (user_id === null) return LOCAL_ADMIN;
    if (!accounts.find({ id: user_id })?.active) return undefined;
    return { kind: "user", admin: false, userId: user_id, projects: access };
  }

  /** What the run has cost and taken. */
  function figuresOf(runId: string, steps: ReturnType<RunsService["rows"]["stepsOf"]>) {
    const { cost_nano, calls_without_price, tokens } = runs.rows.run(runId)!;
    const step = steps.findLast(({ step_id }) => step_id === WORK_STEP);
    const done = step?.execution_id ? work.find({ id: step.execution_id }) : undefined;
    const { started_at = null, finished_at = null, waited_ms = 0, turns = 0 } = done ?? {};
    const tool_errors = step?.session_id
      ? store
          .statement<number>("SELECT count(*) FROM tool_calls WHERE session_id = ? AND ok = 0")
          .pluck()
          .get(step.session_id)
      : 0;
    return {
      cost_nano,
      calls_without_price,
      tokens,
      model_calls: turns,
      tool_errors: tool_errors ?? 0,
      duration_ms: started_at && finished_at ? Math.max(0, msBetween(started_at, finished_at) - waited_ms) : null,
    };
  }

  const ended = (status: AttemptRow["status"], reason: string) => ({ status, reason, finished_at: now() });
  /** Writes the change, and makes it in the row at hand. */
  function change(attempt: AttemptRow, fields: Partial<AttemptRow>): void {
    attempts.rows.update(fields, { id: attempt.id });
    Object.assign(attempt, fields);
  }

  const byReward = ({ eval_id, task: name }: AttemptRow): boolean =>
    tasks.find({ eval_id, name })?.task.reward === true;

  /** Takes what came of its run, if that has ended. @returns whether it has. */
  function collect(attempt: AttemptRow): boolean {
    const run = attempt.run_id === null ? undefined : runs.rows.run(attempt.run_id);
    if (run && !isRunEnd(run.status)) return false;
    const steps = run ? runs.rows.stepsOf(run.id) : [];
    change(
      attempt,
      run
        ? { ...outcomeOf(run, steps, byReward(attempt)), ...figuresOf(run.id, steps), finished_at: now() }
        : ended("error", "Its run was removed."),
    );
    return true;
  }

  /**
   * What the next attempt may cost, USD: its task's budget, within what is left of the eval's after what others at work may
   * take. Undefined: no limit. "wait": what others leave decides. "none": it is used up.
   */
  function budgetFor(row: EvalRow, task: PackedTask, all: readonly AttemptRow[]): number | undefined | "wait" | "none" {
    if (row.budget_usd === null || row.budget_usd === 0) return row.budget_usd ?? task.budget_usd ?? undefined;
    const atWork = all.filter(({ status }) => status === "running");
    const spent = toUsd(all.reduce((sum, one) => sum + one.cost_nano, 0));
    const reserved = atWork.reduce((sum, one) => sum + (runs.rows.run(one.run_id!)?.budget_usd ?? Infinity), 0);
    const left = row.budget_usd - spent - reserved;
    if (left <= 0) return atWork.length > 0 ? "wait" : "none";
    return Math.min(task.budget_usd ?? left, left);
  }

  const workerOf = ({ worker, agent_id }: AttemptRow): Worker => (worker === "agent" ? { agent: agent_id! } : worker);

  /** @returns false where it cannot begin now. */
  function start(row: EvalRow, attempt: AttemptRow, caller: Caller, all: readonly AttemptRow[]): boolean {
    const { task } = tasks.find({ eval_id: row.id, name: attempt.task })!;
    const budget = budgetFor(row, task, all);
    if (budget === "wait") return false;
    if (budget === "none") {
      change(attempt, ended("skipped", `The eval's $${row.budget_usd} are used up.`));
      return true;
    }
    const model = row.replayed ? replayModel : attempt.model;
    try {
      const run = runs.create(
        {
          pipeline_id: EVAL_PIPELINE,
          task_description: task.instruction,
          ...(task.project_name === null ? {} : { project_name: task.project_name }),
          ...(model === null ? {} : { model }),
          ...(budget === undefined ? {} : { budget_usd: budget }),
        },
        caller,
        { made: definitionOf(task, workerOf(attempt)), ...(task.commit === null ? {} : { base: task.commit }) },
      );
      change(attempt, { status: "running", run_id: run.id });
    } catch (error) {
      if (!isProblem(error)) throw error;
      if (LATER.has(error.status)) return false;
      change(attempt, ended("error", wordsOf(error)));
    }
    return true;
  }

  /** @param all of the eval. @returns whether anything began or was left out. */
  function startSome(row: EvalRow, all: AttemptRow[]): boolean {
    const caller = callerOf(row);
    const queued = all.filter(({ status }) => status === "queued");
    if (!caller) for (const attempt of queued) change(attempt, ended("cancelled", "Its user may not work any more."));
    let places = row.parallel - all.filter(({ status }) => status === "running").length;
    let some = !caller && queued.length > 0;
    for (const attempt of caller ? queued : []) {
      if (places <= 0 || !start(row, attempt, caller!, all)) break;
      if (attempt.status === "running") places--;
      some = true;
    }
    return some;
  }

  function end(tx: WriteTx, row: EvalRow, status: "done" | "cancelled"): void {
    rows.update({ status, finished_at: now() }, { id: row.id });
    emit(tx, row, status);
  }

  function advance(evalId: string): void {
    store.write((tx) => {
      const row = rows.find({ id: evalId });
      if (row?.status !== "running") return;
      const all = attempts.of(evalId);
      const taken = all.filter((one) => one.status === "running" && collect(one)).length;
      const begun = startSome(row, all);
      if (!all.some(isOpen)) end(tx, row, "done");
      else if (taken > 0 || begun) emit(tx, row, "progress");
    });
  }

  return {
    advance,
    emit,
    advanceAll: () => actOnEach(rows.list([["evals.status = 'running'"]], { order: "id" }), ({ id }) => advance(id)),
    runEnded(runId) {
      const attempt = attempts.ofRun(runId);
      if (attempt?.status === "running") advance(attempt.eval_id);
    },
    cancel(row, caller) {
      store.write((tx) => {
        for (const attempt of attempts.of(row.id).filter(isOpen)) {
          const run = attempt.run_id === null ? undefined : runs.rows.run(attempt.run_id);
          if (!run) change(attempt, ended("cancelled", "The eval was cancelled."));
          else if (!isRunEnd(run.status)) runs.cancel(run.id, caller);
          if (run) collect(attempt);
        }
        end(tx, row, "cancelled");
      });
    },
  };
}

/** With what is wrong where the detail does not say it. */
function wordsOf({ detail, extras }: Problem): string {
  const errors = extras.errors?.map(({ message }) => message) ?? [];
  return [detail, ...errors.filter((one) => !detail.includes(one))].join(" ");
}
