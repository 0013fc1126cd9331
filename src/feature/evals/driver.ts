/**
 * Carries out an eval: starts its attempts, a few at a time, and stores the outcomes of their runs. The rows say what
 * is left to do, so a server that was killed continues where it was. Each attempt starts in the transaction that
 * creates its run.
 */
import { actOnEach } from "../../core/act-on-each.ts";
import { toTimestamp } from "../../core/clock.ts";
import { isProblem, type Problem } from "../../core/errors.ts";
import type { ProjectRoles } from "../../core/ownership.ts";
import { isRunEnd } from "../../core/run-states.ts";
import { type Caller, LOCAL_ADMIN } from "../../http/caller.ts";
import type { WriteTx } from "../../store/store.ts";
import { users } from "../../store/tables/accounts.ts";
import { evals, evalTasks } from "../../store/tables/evals.ts";
import type { Core } from "../feature.ts";
import type { RunsService } from "../runs/service.ts";
import { definitionOf, EVAL_PIPELINE, type Worker } from "./definition.ts";
import { evalChanged } from "./events.ts";
import { createFigures } from "./figures.ts";
import { outcomeOf } from "./outcome.ts";
import { type EvalRow, isOpen } from "./scores.ts";
import type { AttemptRow, AttemptStore } from "./store.ts";

interface DriverDeps extends Pick<Core, "store" | "clock"> {
  access: ProjectRoles;
  attempts: AttemptStore;
  /** The model that plays recorded replies. */
  replayModel: string;
  runs: Pick<RunsService, "create" | "cancel" | "rows">;
}

type Change = "created" | "progress" | "done" | "cancelled" | "deleted";

export type Driver = ReturnType<typeof createDriver>;

/** Statuses with which a new run is refused only for now: too many runs, no room, no engine. */
const LATER: ReadonlySet<number> = new Set([413, 429, 503]);

export function createDriver({ store, clock, access, attempts, replayModel, runs }: DriverDeps) {
  const rows = store.rows(evals);
  const tasks = store.rows(evalTasks);
  const { figuresOf, budgetFor } = createFigures(store, runs.rows);
  const accounts = store.rows(users);
  const readNow = () => toTimestamp(clock.now());
  const emit = (tx: WriteTx, { id, name, user_id }: EvalRow, change: Change): void =>
    tx.emit(evalChanged, { user_id: user_id ?? undefined, data: { eval_id: id, name, change } });

  /** Undefined when the eval's user may not work any more. */
  function callerOf({ user_id }: EvalRow): Caller | undefined {
    if (user_id === null) return LOCAL_ADMIN;
    if (!accounts.find({ id: user_id })?.active) return undefined;
    return { kind: "user", admin: false, userId: user_id, projects: access };
  }

  const buildEnd = (status: AttemptRow["status"], reason: string) => ({ status, reason, finished_at: readNow() });
  /** Stores the change, and applies it to the given row. */
  function change(attempt: AttemptRow, fields: Partial<AttemptRow>): void {
    attempts.rows.update(fields, { id: attempt.id });
    Object.assign(attempt, fields);
  }

  const byReward = ({ eval_id, task: name }: AttemptRow): boolean =>
    tasks.find({ eval_id, name })?.task.reward === true;

  /** Stores the outcome of the attempt's run, if it has ended. @returns whether it has. */
  function collect(attempt: AttemptRow): boolean {
    const run = attempt.run_id === null ? undefined : runs.rows.run(attempt.run_id);
    if (run && !isRunEnd(run.status)) return false;
    const steps = run ? runs.rows.stepsOf(run.id) : [];
    change(
      attempt,
      run
        ? { ...outcomeOf(run, steps, byReward(attempt)), ...figuresOf(run.id, steps), finished_at: readNow() }
        : buildEnd("error", "Its run was removed."),
    );
    return true;
  }

  /** @returns false when the attempt cannot start now. */
  function start(row: EvalRow, attempt: AttemptRow, caller: Caller, all: readonly AttemptRow[]): boolean {
    const { task } = tasks.find({ eval_id: row.id, name: attempt.task })!;
    const budget = budgetFor(row, task, all);
    if (budget === "wait") return false;
    if (budget === "none") {
      change(attempt, buildEnd("skipped", `The eval's $${row.budget_usd} are used up.`));
      return true;
    }
    const model = row.replayed ? replayModel : attempt.model;
    try {
      const run = runs.create(
        {
          pipeline_id: EVAL_PIPELINE,
          task_description: task.instruction,
          project_name: task.project_name ?? undefined,
          model: model ?? undefined,
          budget_usd: budget,
        },
        caller,
        { made: definitionOf(task, workerOf(attempt)), base: task.commit ?? undefined },
      );
      change(attempt, { status: "running", run_id: run.id });
    } catch (error) {
      if (!isProblem(error)) throw error;
      if (LATER.has(error.status)) return false;
      change(attempt, buildEnd("error", wordsOf(error)));
    }
    return true;
  }

  /** @param all attempts of the eval. @returns whether an attempt was started, skipped or ended. */
  function startSome(row: EvalRow, all: AttemptRow[]): boolean {
    const caller = callerOf(row);
    const queued = all.filter(({ status }) => status === "queued");
    if (!caller)
      for (const attempt of queued) change(attempt, buildEnd("cancelled", "Its user may not work any more."));
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
    rows.update({ status, finished_at: readNow() }, { id: row.id });
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
    /** Stores outcomes of ended runs, and starts attempts where there is room. */
    advance,
    emit,
    /** Advances all evals that have not ended. */
    advanceAll: (): void =>
      actOnEach(rows.list([["evals.status = 'running'"]], { order: "id" }), ({ id }) => advance(id)),
    /** Call when a run has ended: advances the eval whose attempt it was. */
    runEnded(runId: string): void {
      const attempt = attempts.ofRun(runId);
      if (attempt?.status === "running") advance(attempt.eval_id);
    },
    /** Cancels its runs, and every attempt that has not started. */
    cancel: (row: EvalRow, caller: Caller): void =>
      store.write((tx) => {
        for (const attempt of attempts.of(row.id).filter(isOpen)) {
          const run = attempt.run_id === null ? undefined : runs.rows.run(attempt.run_id);
          if (!run) change(attempt, buildEnd("cancelled", "The eval was cancelled."));
          else if (!isRunEnd(run.status)) runs.cancel(run.id, caller);
          if (run) collect(attempt);
        }
        end(tx, row, "cancelled");
      }),
  };
}

const workerOf = ({ worker, agent_id }: AttemptRow): Worker => (worker === "agent" ? { agent: agent_id! } : worker);

/** The problem's detail, with those errors that it does not already contain. */
function wordsOf({ detail, extras }: Problem): string {
  const errors = extras.errors?.map(({ message }) => message) ?? [];
  return [detail, ...errors.filter((one) => !detail.includes(one))].join(" ");
}
