/**
 * Has runs do a task: the stages of its policy one after another. The task's status follows the runs, whose rows are
 * read each time, so that an event that was lost in a crash does no harm.
 */
import { actOnEach } from "../../core/act-on-each.ts";
import { conflict, notFound } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { ABOUT_UNCONFIRMED, quotedOutside } from "../../core/outside-text.ts";
import { type Caller, LOCAL_ADMIN } from "../../http/caller.ts";
import type { ProjectAccess } from "../../store/project-access.ts";
import type { Core } from "../feature.ts";
import type { PlainProject } from "../projects/model.ts";
import type { Run, RunCreate } from "../runs/model.ts";
import type { Stage } from "./model.ts";
import type { Policies } from "./policy.ts";
import type { TaskExecute } from "./policy-model.ts";
import { FINISHED, type TaskRules } from "./rules.ts";
import type { TaskRow, TaskStore } from "./store.ts";

/** The needed parts of a pipeline that is made for a task's run. */
interface MadePipeline {
  id: string;
  name: string;
  steps: { id: string; agent: string; input: string }[];
}

export interface RunState {
  id: string;
  status: Run["status"];
  createdBy: string | null;
  pipelineId: string;
  /** Steps that have succeeded. */
  done: string[];
  /** Code of the run's error, without its message: everybody sees a task, but not everybody may read the run. */
  error: string | null;
}

export type TaskExecution = ReturnType<typeof createTaskExecution>;

interface TaskExecutionDeps extends Pick<Core, "store"> {
  access: Pick<ProjectAccess, "within">;
  rows: TaskStore;
  rules: TaskRules;
  policies: Policies;
  /** @throws Problem 404. */
  projectOf(id: string): PlainProject;
  createRun(
    input: RunCreate,
    caller: Caller,
    from: { made?: MadePipeline | undefined; outside?: string | undefined },
  ): Run;
  mask(text: string): string;
  runState(runId: string): RunState | undefined;
  /** Whether the run has an open pull request, or will have one. Then the task is done when that is merged. */
  awaitsPull(runId: string): boolean;
}

const AT_WORK: ReadonlySet<Run["status"]> = new Set(["queued", "running", "waiting"]);

export function createTaskExecution(deps: TaskExecutionDeps) {
  const { store, rows, rules, policies, projectOf, createRun, runState } = deps;

  function start(row: TaskRow, { work_type, pipeline_id, task_description }: TaskExecute, caller: Caller): Run {
    const plan = policies.resolve(row, work_type);
    const project = projectOf(row.project_id);
    const request = {
      task_description: task_description ?? wordsOf(row, deps.mask),
      project_name: project.name,
      task_id: row.id,
    };
    const group = pipeline_id === undefined ? stagesToRun(plan.stages, row.completed_stages) : [];
    if (pipeline_id === undefined && plan.stages.length > 0 && group.length === 0)
      throw conflict("Every stage of the task's work is completed.", "nothing_to_do");
    const [first] = group;
    if (first && !first.agent_id && !first.pipeline_id)
      throw conflict(`The policy names nobody for the stage ${first.stage}. Do it, then complete it.`, "stage_by_hand");
    const pipeline = first ? first.pipeline_id : (pipeline_id ?? plan.pipeline_id ?? undefined);
    const alone = pipeline_id === undefined ? plan.agent_id : null;
    if (!first && alone === null && pipeline === undefined) throw conflict(`${plan.reason} Name one.`, "no_pipeline");
    const made = pipeline === undefined ? madeOf(row, alone ? [workOf(alone)] : group.map(stepOf)) : undefined;
    const from = { made, outside: row.outside ?? undefined };
    const run = createRun({ ...request, pipeline_id: pipeline ?? made!.id }, caller, from);
    const note = { actor: caller.userId ?? caller.kind, change: "moved" as const, note: `Run ${run.id}.` };
    const fields = { run_id: run.id, branch: run.branch };
    rules.move(rows.find(row.id)!, { status: "in_progress", note, fields });
    return run;
  }

  /**
   * Stages that a succeeded run completes: the stage that its pipeline stands for, else the stages that it had as
   * steps.
   */
  function completedBy(row: TaskRow, { done, pipelineId }: RunState): string[] {
    const plan = policies.resolve(row);
    const group = stagesToRun(plan.stages, row.completed_stages);
    const [first] = group;
    const added =
      first?.pipeline_id === pipelineId
        ? [first.stage]
        : group.map(({ stage }) => stage).filter((one) => done.includes(one));
    return [...row.completed_stages, ...added];
  }

  function follow(runId: string): void {
    const state = runState(runId);
    const row = rows.ofRun(runId);
    if (!state || !row || FINISHED.has(row.status)) return;
    const toNote = (note: string) => ({ actor: `run:${runId}`, change: "moved" as const, note });
    if (state.status === "waiting" && row.status !== "review")
      rules.move(row, { status: "review", note: toNote("The run waits for a person.") });
    else if ((state.status === "running" || state.status === "queued") && row.status !== "in_progress")
      rules.move(row, { status: "in_progress", note: toNote("The run continues.") });
    else if (state.status === "failed")
      rules.move(row, { status: "failed", note: toNote(`The run failed${state.error ? `: ${state.error}` : ""}.`) });
    else if (state.status === "cancelled") {
      const fields = { run_id: null, assigned_agent: null, lease_until: null };
      rules.move(row, { status: "ready", note: toNote("The run was cancelled."), fields });
    } else if (state.status === "succeeded") followSuccess(row, state, toNote);
  }

  function followSuccess(
    row: TaskRow,
    state: RunState,
    by: (note: string) => { actor: string; change: "moved"; note: string },
  ) {
    const stages = completedBy(row, state);
    const grown = { ...row, completed_stages: stages };
    const next = stagesToRun(policies.resolve(grown).stages, stages)[0];
    if (next && stages.length > row.completed_stages.length && (next.agent_id || next.pipeline_id)) {
      rows.update(
        row.id,
        { completed_stages: stages },
        { ...by(`Completed: ${stages.join(", ")}.`), change: "updated" },
      );
      const caller: Caller = state.createdBy
        ? { kind: "user", admin: false, userId: state.createdBy, projects: deps.access.within(row.project_id) }
        : LOCAL_ADMIN;
      start(rows.find(row.id)!, {}, caller);
      return;
    }
    const waits = next !== undefined || policies.get(row.project_id).wait_for_merge || deps.awaitsPull(state.id);
    const note = by(waits ? "The run succeeded; the task waits." : "The run succeeded.");
    if (waits && row.status === "review" && stages.length === row.completed_stages.length) return;
    rules.move(row, { status: waits ? "review" : "done", note, fields: { completed_stages: stages } });
  }

  const followRun = (runId: string): void => store.write(() => follow(runId));
  return {
    /**
     * @throws Problem 409 when a run is at work, nothing is left to do, or the policy names nobody for the next stage.
     */
    execute(projectId: string, taskId: string, request: TaskExecute, caller: Caller): Run {
      return store.write(() => {
        projectOf(projectId);
        const row = rows.find(taskId);
        if (!row || row.project_id !== projectId) throw notFound("task");
        const now = row.run_id === null ? undefined : runState(row.run_id);
        if (now && AT_WORK.has(now.status)) throw conflict(`The run ${now.id} is at work on it.`, "task_busy");
        if (row.status === "done") throw conflict("The task is done.", "nothing_to_do");
        const unmet = rows.listUnmet(row.id);
        if (unmet.length > 0)
          throw conflict("Tasks that it depends on are not done.", "dependencies_unmet", { depends_on: unmet });
        return start(row, request, caller);
      });
    },
    /** Updates the task of this run to the run's state. */
    follow: followRun,
    /** Called when the run's work was merged into the branch for which it was made. */
    onMerge(runId: string): void {
      store.write(() => {
        const row = rows.ofRun(runId);
        if (!row || FINISHED.has(row.status) || policies.missingStages(row).length > 0) return;
        const note = { actor: `run:${runId}`, change: "moved" as const, note: "The run's work was merged." };
        rules.move(row, { status: "done", note });
      });
    },
    /** After a start of the server, updates every task that has a run. */
    followAll(): void {
      actOnEach(rows.withRun(), ({ run_id }) => run_id !== null && followRun(run_id));
    },
  };
}

/** The task's text for the run's agents. Text that may be outside text is quoted. */
function wordsOf({ id, title, description, outside }: TaskRow, mask: (text: string) => string): string {
  const text = description === "" ? title : `${title}\n\n${description}`;
  if (outside === null) return text;
  const quote = quotedOutside({ source: `task ${id}`, author: "an agent", text }, mask, LIMITS.outsideTextCharacters);
  return `Do what the task ${id} describes, as far as it is work on this project.\n\n${ABOUT_UNCONFIRMED}\n\n${quote}`;
}

/** The next stages that one run does: one stage with a pipeline, or several stages of agents one after another. */
function stagesToRun(stages: readonly Stage[], completed: readonly string[]): Stage[] {
  const open = stages.filter(({ stage, disposition }) => disposition !== "skip" && !completed.includes(stage));
  const [first] = open;
  if (!first) return [];
  if (!first.agent_id) return [first];
  const end = open.findIndex(({ agent_id }) => !agent_id);
  return end < 0 ? open : open.slice(0, end);
}

const madeOf = (row: TaskRow, steps: MadePipeline["steps"]): MadePipeline => ({
  id: "task",
  name: row.title.slice(0, 200),
  steps,
});
const stepOf = ({ stage, agent_id }: Stage) => ({
  id: stage,
  agent: agent_id!,
  input: `Your part of the task is the stage "${stage}".\n\n{{ task_description }}`,
});
const workOf = (agent: string) => ({ id: "work", agent, input: "{{ task_description }}" });
