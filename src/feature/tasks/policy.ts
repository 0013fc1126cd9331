/** Workflow policies of projects, and the stages that they give a task. */
import { toTimestamp } from "../../core/clock.ts";
import { invalidField } from "../../core/errors.ts";
import { workflowPolicies } from "../../store/tables/tasks.ts";
import type { Core } from "../feature.ts";
import type { PlainProject } from "../projects/model.ts";
import type { Rules, Stage, WorkType } from "./model.ts";
import type { ResolvedWorkflow, WorkflowPolicy } from "./policy-model.ts";
import type { TaskRow } from "./store.ts";

export type Policies = ReturnType<typeof createPolicies>;

interface PoliciesDeps extends Pick<Core, "store" | "clock"> {
  /** @throws Problem 404. */
  projectOf(id: string): PlainProject;
  agentExists(id: string): boolean;
  pipelineExists(id: string): boolean;
}

/** Shipped pipelines for kinds of work, used when neither a policy nor the project names one. */
const SHIPPED: Partial<Record<WorkType, string>> = { bugfix: "bugfix", feature: "feature" };
const FALLBACK = "feature";

export function createPolicies({ store, clock, projectOf, agentExists, pipelineExists }: PoliciesDeps) {
  const rows = store.rows(workflowPolicies);
  const rowOf = (id: string) => rows.find({ project_id: id });
  const get = (projectId: string): WorkflowPolicy => {
    projectOf(projectId);
    const row = rowOf(projectId);
    return {
      project_id: projectId,
      exists: row !== undefined,
      rules: row?.rules ?? {},
      wait_for_merge: row?.wait_for_merge ?? false,
    };
  };
  const typeOf = (row: TaskRow): WorkType => row.work_type ?? "custom";
  const stagesOf = (projectId: string, type: WorkType): Stage[] | undefined => {
    const { rules } = get(projectId);
    return rules[type] ?? rules.custom;
  };

  function assertRules(rules: Rules): void {
    for (const [type, stages = []] of Object.entries(rules)) {
      const seen = new Set<string>();
      for (const [index, { stage, agent_id, pipeline_id }] of stages.entries()) {
        const at = `/rules/${type}/${index}`;
        if (seen.has(stage)) throw invalidField(`${at}/stage`, "A stage is there once");
        seen.add(stage);
        if (agent_id !== undefined && pipeline_id !== undefined)
          throw invalidField(`${at}/pipeline_id`, "A stage is done by an agent or by a pipeline, not by both");
        if (agent_id !== undefined && !agentExists(agent_id))
          throw invalidField(`${at}/agent_id`, "There is no such agent");
        if (pipeline_id !== undefined && !pipelineExists(pipeline_id))
          throw invalidField(`${at}/pipeline_id`, "There is no such pipeline");
      }
    }
  }

  /** Who does work that no policy covers, and why: the agent to which the task was assigned, else a pipeline. */
  function workerFor(row: TaskRow, type: WorkType): Pick<ResolvedWorkflow, "agent_id" | "pipeline_id" | "reason"> {
    const why = "No policy names stages:";
    // An agent that has claimed the task already works on it. A run that it starts should be more than that agent
    // alone.
    const given = row.lease_until === null ? row.assigned_agent : null;
    if (given !== null && agentExists(given))
      return { agent_id: given, pipeline_id: null, reason: `${why} the task's agent, ${given}.` };
    const { default_pipeline_id: own } = projectOf(row.project_id);
    if (own !== null) return { agent_id: null, pipeline_id: own, reason: `${why} the project's default pipeline.` };
    const shipped = [SHIPPED[type], FALLBACK].find((id) => id !== undefined && pipelineExists(id));
    if (shipped) return { agent_id: null, pipeline_id: shipped, reason: `${why} the pipeline ${shipped}.` };
    const reason = "No policy names stages, the task has no agent, and the project no default pipeline.";
    return { agent_id: null, pipeline_id: null, reason };
  }

  return {
    get,
    /** @throws Problem 422 for a stage that occurs twice, or an agent or pipeline that does not exist. */
    update(
      projectId: string,
      { rules, wait_for_merge }: { rules?: Rules | undefined; wait_for_merge?: boolean | undefined },
    ): WorkflowPolicy {
      projectOf(projectId);
      if (rules) assertRules(rules);
      return store.write(() => {
        const old = get(projectId);
        const row = {
          project_id: projectId,
          rules: rules ?? old.rules,
          wait_for_merge: wait_for_merge ?? old.wait_for_merge,
          updated_at: toTimestamp(clock.now()),
        };
        rows.put(row, ["project_id"]);
        return get(projectId);
      });
    },
    /** What is to be done for the task, as work of kind `workType` or of its own kind. */
    resolve(row: TaskRow, workType: WorkType = typeOf(row)): Omit<ResolvedWorkflow, "next_statuses"> {
      const stages = stagesOf(row.project_id, workType);
      const common = { task_id: row.id, work_type: workType, completed: row.completed_stages };
      if (!stages) {
        const nothing = { stages: [], required: [], skipped: [], current: null, next: null };
        return { ...common, ...nothing, ...workerFor(row, workType) };
      }
      const open = stages.filter(
        ({ stage, disposition }) => disposition !== "skip" && !row.completed_stages.includes(stage),
      );
      const [current, next] = open;
      return {
        ...common,
        stages,
        required: stages.filter(({ disposition }) => disposition === "required").map(({ stage }) => stage),
        skipped: stages.filter(({ disposition }) => disposition === "skip").map(({ stage }) => stage),
        current: current?.stage ?? null,
        next: next?.stage ?? null,
        agent_id: null,
        pipeline_id: current?.pipeline_id ?? null,
        reason: current
          ? `The project's policy for ${workType}: ${current.stage} is next.`
          : `The project's policy for ${workType}: every stage is completed.`,
      };
    },
    /** Required stages that have not been completed. */
    missingStages(row: TaskRow): string[] {
      const stages = stagesOf(row.project_id, typeOf(row)) ?? [];
      const required = stages.filter(({ disposition }) => disposition === "required");
      return required.map(({ stage }) => stage).filter((stage) => !row.completed_stages.includes(stage));
    },
  };
}
