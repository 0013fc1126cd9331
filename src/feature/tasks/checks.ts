/** Checks a task: its fields, and the statuses that it may take. */
import { conflict, invalidField } from "../../core/errors.ts";
import type { BoardColumn, PlainProject } from "../projects/model.ts";
import type { TaskUpdate } from "./model.ts";
import type { TaskRow, TaskStore } from "./store.ts";

export interface ChecksDeps {
  rows: TaskStore;
  /** @throws Problem 404. */
  projectOf(id: string): PlainProject;
  agentExists(id: string): boolean;
  /** Required stages of the task's work that are not completed. */
  missingStages(row: TaskRow): string[];
}

export type TaskChecks = ReturnType<typeof createTaskChecks>;

const METADATA_BYTES = 16_384;

export function createTaskChecks({ rows, projectOf, agentExists, missingStages }: ChecksDeps) {
  const columnsOf = (projectId: string): BoardColumn[] => projectOf(projectId).columns;
  const assertStatus = (projectId: string, status: string): void => {
    const known = columnsOf(projectId).flatMap(({ statuses }) => statuses);
    if (!known.includes(status)) throw invalidField("/status", `The board has the statuses ${known.join(", ")}`);
  };
  const assertAgent = (id: string | null | undefined, pointer = "/assigned_agent"): void => {
    if (id && !agentExists(id)) throw invalidField(pointer, "There is no such agent");
  };
  const assertRelated = (projectId: string, id: string | null | undefined, pointer: string): void => {
    if (id && rows.find(id)?.project_id !== projectId) throw invalidField(pointer, "The project has no such task");
  };

  /** @throws Problem 422 for unknown tasks, cycles, or values that are too large. */
  function assertFields(projectId: string, input: TaskUpdate, own?: string): void {
    assertAgent(input.assigned_agent);
    assertRelated(projectId, input.parent_id, "/parent_id");
    for (const [index, id] of (input.depends_on ?? []).entries()) assertRelated(projectId, id, `/depends_on/${index}`);
    if (own !== undefined && input.depends_on && rows.upstream(input.depends_on).has(own))
      throw invalidField("/depends_on", "The task would wait for itself");
    for (let at = input.parent_id, steps = 0; at; at = rows.find(at)?.parent_id, steps++)
      if (at === own || steps > 20) throw invalidField("/parent_id", "A task cannot be below itself, nor 20 deep");
    if (input.metadata && JSON.stringify(input.metadata).length > METADATA_BYTES)
      throw invalidField("/metadata", `At most ${METADATA_BYTES} bytes of JSON`);
  }

  /** Why a task may not take a status; undefined when it may. */
  function findObstacle(row: TaskRow, status: string): ReturnType<typeof conflict> | undefined {
    if (status === row.status) return undefined;
    const column = columnsOf(row.project_id).find(({ statuses }) => statuses.includes(status));
    if (column && column.wip_limit !== null && !column.statuses.includes(row.status)) {
      const there = rows.inStatuses(row.project_id, column.statuses);
      if (there >= column.wip_limit)
        return conflict(
          `The column ${column.name} holds ${there === 1 ? "1 task" : `${there} tasks`}, its limit. Finish one first.`,
          "wip_limit",
        );
    }
    if (["in_progress", "review", "done"].includes(status)) {
      const unmet = rows.listUnmet(row.id);
      if (unmet.length > 0)
        return conflict("Tasks that it depends on are not done.", "dependencies_unmet", { depends_on: unmet });
    }
    if (status === "done") {
      const missing = missingStages(row);
      if (missing.length > 0)
        return conflict(`Stages that its work requires are missing: ${missing.join(", ")}.`, "stage_required", {
          missing,
        });
    }
    return undefined;
  }
  const nextStatuses = (row: TaskRow): string[] =>
    columnsOf(row.project_id)
      .flatMap(({ statuses }) => statuses)
      .filter((status) => status !== row.status && findObstacle(row, status) === undefined);
  return { assertStatus, assertAgent, assertRelated, assertFields, findObstacle, nextStatuses };
}
