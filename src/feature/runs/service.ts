/** Runs: created from a pipeline, driven by the planner step by step, cancelled, restarted, approved. */
import { actOnEach } from "../../core/act-on-each.ts";
import { timestamp } from "../../core/clock.ts";
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

/** What a pass over runs whose time is over may take. */
const TICK_MS = 8;

interface RunsDeps extends RunLimitsDeps, Pick<Core, "store" | "clock" | "audit"> {
  /** What of a run waits for a provider's quota is tried at once. @returns how much did. */
  tryNow(runId: string): number;
  providerWait(runId: string): RunDetail["provider_wait"];
  rows: RunStore;
  views: RunViews;
  advance: Advance;
  /** @throws Problem 404 unknown, 422 with its problems when it is invalid. */
  pipelineOf(id: string): PipelineDefinition;
  /** @throws Problem 404. */
  projectNamed(name: string, caller: Caller): { id: string; name: string };
  /** What is wrong with the name of a model; undefined for one that can be called. */
  wrongModel(id: string): string | undefined;
  /** @throws Problem 422 when the pipeline names an agent that does not exist or is switched off. */
  assertReady(definition: PipelineDefinition): void;
}

interface RunOrigin {
  /** A definition made for this run, instead of a stored pipeline. */
  made?: PipelineDefinition | undefined;
  /** The outside text that it begins with. */
  outside?: string | undefined;
  /** Commit of its project to begin from. */
  base?: string | undefined;
  /** The caller's trace, which it becomes a part of. */
  trace?: TraceParent | undefined;
}

export type Runs = ReturnType<typeof createRuns>;

/** What other features get. */
export interface RunsService extends Runs {
  readonly rows: RunStore;
  readonly views: RunViews;
  readonly approvals: Pick<ApprovalList, "waitingAt">;
}

export function createRuns(deps: RunsDeps) {
  const { store, rows, views, clock, advance, audit } = deps;
  const now = () => timestamp(clock.now());
  const shown = (id: string): Run => views.present(rows.run(id)!);
  const limits = createRunLimits(deps);
  const { restart, sendBack } = createAttempts({ ...deps, shown, limits });

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
      created_at: now(),
    };
  };

  return {
    /** @throws Problem 429 `too_many_runs`, 413 `workspaces_full`, as `restart` and `sendBack` do, too. */
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
        return shown(id);
      });
    },
    /** @throws Problem 409 when it has ended. */
    cancel(id: string, caller: Caller): Run {
      return store.write((tx) => {
        const row = views.rowFor(id, caller);
        if (isRunEnd(row.status)) throw conflict(`The run has ${row.status} already.`, "run_ended");
        advance.cancel(tx, id);
        audit({ action: "run.cancelled", ...actedBy(caller), subject: id });
        return shown(id);
      });
    },
    /** @throws Problem 404, 409 `run_not_waiting`. */
    tryNow(id: string, caller: Caller): Run {
      const row = views.rowFor(id, caller);
      if (deps.tryNow(row.id) === 0) throw conflict("The run waits for no provider.", "run_not_waiting");
      return shown(id);
    },
    /** What it waits for of a provider. */
    providerWait: deps.providerWait,
    /** @throws Problem 409 unless it failed or was cancelled, 422 unknown step. */
    restart,
    /**
     * Another attempt of a run that has ended, even successfully, on its own branch, with what reviewers say about the last one.
     * @throws Problem 409 `run_not_ended`, 422 for a step that the pipeline does not have.
     */
    sendBack,
    /** @throws Problem 404 unknown step, 409 when it does not wait. */
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
        return shown(id);
      });
    },
    /** Its work was merged on the code host. */
    mergedOnHost(id: string, { into, commit, head }: { into: string; commit: string; head: string }): void {
      store.write((tx) => {
        const row = rows.run(id);
        if (!row || (row.merged_head === head && row.merged_into === into)) return;
        rows.updateRun(id, { merged_commit: commit, merged_into: into, merged_head: head });
        tx.emit(runMerged, { ...refsOf(row), data: { strategy: "host", into, commit } });
      });
    },
    /** Advances runs in which a person's time to answer is over, for some milliseconds; `again` asks for the rest. */
    tick(again: () => void): void {
      const until = clock.monotonic() + TICK_MS;
      for (const { id } of rows.withDeadlineBefore(clock.now())) {
        if (clock.monotonic() > until) return again();
        store.write((tx) => advance.run(tx, id));
      }
    },
    /** After a start: continues runs that a crash left between two steps. */
    resume(): void {
      actOnEach(rows.unfinished(), ({ id }) => store.write((tx) => advance.run(tx, id)));
    },
    /** How executions of pipeline steps report. */
    owner: {
      started(execution, tx) {
        const step = execution.step_row_id === null ? undefined : rows.step(execution.step_row_id);
        if (step?.status === "queued") advance.began(tx, step);
      },
      /** The end of an execution is the end of its step, unless the run has continued without it. */
      finished(execution, ending, tx) {
        const step = execution.step_row_id === null ? undefined : rows.step(execution.step_row_id);
        if (!step || !["queued", "running"].includes(step.status)) return;
        advance.ended(tx, step, reportOf(ending), { text: ending.text, model: execution.model });
      },
    } satisfies SessionOwner,
  };
}

/** Values of the pipeline's inputs. @throws Problem 422 with what is wrong with each. */
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
