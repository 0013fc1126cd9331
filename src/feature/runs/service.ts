/** Runs: creates them from a pipeline, has the planner drive them step by step, cancels, restarts and approves them. */
import { actOnEach } from "../../core/act-on-each.ts";
import { toTimestamp } from "../../core/clock.ts";
import { conflict, invalid, invalidField, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { assertRole } from "../../core/ownership.ts";
import { isRunEnd } from "../../core/run-states.ts";
import { type TraceParent, writeTraceParent } from "../../core/trace-context.ts";
import type { Ending } from "../../engine/execution.ts";
import { type PipelineDefinition, stepName } from "../../engine/pipeline/definition.ts";
import { checkInputs } from "../../engine/pipeline/scope.ts";
import { actedBy, actorOf, type Caller } from "../../http/caller.ts";
import type { Core } from "../feature.ts";
import type { SessionOwner } from "../sessions/service.ts";
import type { Advance, StepReport } from "./advance.ts";
import type { ApprovalList } from "./approvals.ts";
import { createAttempts } from "./attempts.ts";
import { approvalResolved, runCreated, runMerged } from "./events.ts";
import type { Approval, Run, RunCreate, RunDetail } from "./model.ts";
import { createRunLimits, type RunLimitsDeps } from "./run-limits.ts";
import { refsOf } from "./run-record.ts";
import type { NewRun, RunStore } from "./store.ts";
import type { RunViews } from "./views.ts";

/** Time limit of one pass over runs whose deadline is over, ms. */
const TICK_MS = 8;

interface RunsDeps extends RunLimitsDeps, Pick<Core, "store" | "clock" | "audit"> {
  /** Tries work of a run at once that waits for a provider's quota. @returns the number of such executions. */
  tryNow(runId: string): number;
  providerWait(runId: string): RunDetail["provider_wait"];
  rows: RunStore;
  views: RunViews;
  advance: Advance;
  /** @throws Problem 404 for an unknown pipeline, 422 with its problems when it is invalid. */
  pipelineOf(id: string): PipelineDefinition;
  /** @throws Problem 404. */
  projectNamed(name: string, caller: Caller): { id: string; name: string };
  /** What is wrong with a model's name; undefined for a model that can be called. */
  wrongModel(id: string): string | undefined;
  /** @throws Problem 422 when the pipeline names an agent that does not exist or is switched off. */
  assertReady(definition: PipelineDefinition): void;
}

interface RunOrigin {
  /** A definition that was made for this run and is used instead of a stored pipeline. */
  made?: PipelineDefinition | undefined;
  /** Why the run begins with outside text. */
  outside?: string | undefined;
  /** Commit of the project from which the run begins. */
  base?: string | undefined;
  /** The caller's trace, of which the run becomes a part. */
  trace?: TraceParent | undefined;
}

export type Runs = ReturnType<typeof createRuns>;

/** The service for other features. */
export interface RunsService extends Runs {
  readonly rows: RunStore;
  readonly views: RunViews;
  readonly approvals: Pick<ApprovalList, "waitingAt">;
}

export function createRuns(deps: RunsDeps) {
  const { store, rows, views, clock, advance, audit } = deps;
  const readNow = () => toTimestamp(clock.now());
  const presentById = (id: string): Run => views.present(rows.run(id)!);
  const limits = createRunLimits(deps);
  const { restart, sendBack } = createAttempts({ ...deps, presentById, limits });

  const newRun = (input: RunCreate, definition: PipelineDefinition, caller: Caller): NewRun => {
    const project = input.project_name ? deps.projectNamed(input.project_name, caller) : undefined;
    assertRole(caller, project?.id, "contributor");
    const inputs = inputsOf(definition, input);
    limits.assertBudget(input.budget_usd, definition, caller);
    const wrongModel = input.model && deps.wrongModel(input.model);
    if (wrongModel) throw invalidField("/model", wrongModel);
    const id = newId("run");
    return {
      id,
      pipeline_id: definition.id,
      definition,
      task_description: input.task_description,
      human_context: input.human_context ?? null,
      inputs,
      model: input.model ?? null,
      project_id: project?.id ?? null,
      project_name: project?.name ?? null,
      task_id: input.task_id ?? null,
      status: "queued",
      outputs: {},
      branch: project ? `run/${id}` : null,
      created_by: caller.userId ?? null,
      budget_usd: input.budget_usd ?? definition.defaults?.budget_usd ?? null,
      created_at: readNow(),
    };
  };

  return {
    /** @throws Problem 429 `too_many_runs`, 413 `workspaces_full`. `restart` and `sendBack` throw these as well. */
    create(input: RunCreate, caller: Caller, { made, outside, base, trace }: RunOrigin = {}): Run {
      const definition = made ?? deps.pipelineOf(input.pipeline_id);
      deps.assertReady(definition);
      const asked = { ...newRun(input, definition, caller), outside, base_commit: base };
      return store.write((tx) => {
        limits.assertRoom(caller.userId ?? null);
        const row = rows.insertRun(asked);
        if (trace) rows.insertTrace(row.id, writeTraceParent(trace));
        const { id, pipeline_id, task_description } = row;
        tx.emit(runCreated, { ...refsOf(row), data: { pipeline_id, task_description } });
        advance.run(tx, id);
        return presentById(id);
      });
    },
    /** @throws Problem 409 when the run has ended. */
    cancel(id: string, caller: Caller): Run {
      return store.write((tx) => {
        const row = views.rowFor(id, caller);
        if (isRunEnd(row.status)) throw conflict(`The run has ${row.status} already.`, "run_ended");
        advance.cancel(tx, id);
        audit({ action: "run.cancelled", ...actedBy(caller), subject: id });
        return presentById(id);
      });
    },
    /** @throws Problem 404, 409 `run_not_waiting`. */
    tryNow(id: string, caller: Caller): Run {
      const row = views.rowFor(id, caller);
      if (deps.tryNow(row.id) === 0) throw conflict("The run waits for no provider.", "run_not_waiting");
      return presentById(id);
    },
    /** For which provider the run's work waits. */
    providerWait: deps.providerWait,
    /** @throws Problem 409 unless the run failed or was cancelled, 422 for an unknown step. */
    restart,
    /**
     * Starts another attempt of an ended run, even a successful one, on the run's branch and with reviewers' comments
     * on the last attempt.
     * @throws Problem 409 `run_not_ended`, 422 for a step that the pipeline does not have.
     */
    sendBack,
    /** @throws Problem 404 for an unknown step, 409 when the step does not wait. */
    approve(id: string, { step_id, approved, comment = "" }: Approval, caller: Caller): Run {
      return store.write((tx) => {
        const row = views.rowFor(id, caller);
        assertRole(caller, row.project_id, "contributor");
        const step = rows.stepsOf(id).findLast((one) => one.step_id === step_id || one.id === step_id);
        if (!step) throw notFound("step in this run");
        if (step.status !== "waiting")
          throw conflict(`The step is ${step.status}; it does not wait for an answer.`, "not_waiting");
        tx.emit(approvalResolved, {
          ...refsOf(row),
          step_id: step.step_id,
          data: { step_id: step.step_id, approved, comment, by: actorOf(caller) },
        });
        advance.answer(tx, step, { approved, comment });
        audit({
          action: "run.approval",
          ...actedBy(caller),
          subject: id,
          data: { step_id: step.step_id, step_name: stepName(row.definition, step.step_id), approved },
        });
        return presentById(id);
      });
    },
    /** Records that the run's work was merged on the code host. */
    mergedOnHost(id: string, { into, commit, head }: { into: string; commit: string; head: string }): void {
      store.write((tx) => {
        const row = rows.run(id);
        if (!row || (row.merged_head === head && row.merged_into === into)) return;
        rows.updateRun(id, { merged_commit: commit, merged_into: into, merged_head: head });
        tx.emit(runMerged, { ...refsOf(row), data: { strategy: "host", into, commit } });
      });
    },
    /**
     * Advances runs whose deadline for a person's answer is over, for some milliseconds. `again` asks for another pass
     * if runs are left.
     */
    tick(again: () => void): void {
      const until = clock.monotonic() + TICK_MS;
      for (const { id } of rows.withDeadlineBefore(clock.now())) {
        if (clock.monotonic() > until) return again();
        store.write((tx) => advance.run(tx, id));
      }
    },
    /** After a start of the server, continues runs that a crash left between two steps. */
    resume(): void {
      actOnEach(rows.listUnfinished(), ({ id }) => store.write((tx) => advance.run(tx, id)));
    },
    /** Receives the reports of pipeline steps' executions. */
    owner: {
      onExecutionStart(execution, tx) {
        const step = execution.step_row_id === null ? undefined : rows.step(execution.step_row_id);
        if (step?.status === "queued") advance.began(tx, step);
      },
      /** The end of an execution ends its step, unless the run has continued without it. */
      onExecutionEnd(execution, ending, tx) {
        const step = execution.step_row_id === null ? undefined : rows.step(execution.step_row_id);
        if (!step || !["queued", "running"].includes(step.status)) return;
        advance.endStep(tx, step, reportOf(ending), { text: ending.text, model: execution.model });
      },
    } satisfies SessionOwner,
  };
}

/** Checks the values of the pipeline's inputs. @throws Problem 422 with what is wrong with each. */
function inputsOf(definition: PipelineDefinition, { inputs = {} }: RunCreate): NewRun["inputs"] {
  const { values, problems } = checkInputs(definition, inputs);
  if (problems.length > 0)
    throw invalid(
      `Inputs of the pipeline ${definition.id}: ${problems.map(({ message }) => message).join(" ")}`,
      problems.map(({ name, message }) => ({ pointer: `/inputs/${name}`, message })),
    );
  return values;
}

function reportOf(ending: Ending): StepReport {
  const { status } = ending;
  if (status === "succeeded") return { status, outputs: ending.outputs };
  if (status === "cancelled") return { status, error: { code: "cancelled", message: "It was cancelled." } };
  return {
    status,
    outputs: ending.outputs ?? {},
    error: { ...ending.error, final: ending.error.code === "budget_exceeded" },
  };
}
