/**
 * Tasks on a project's board: they are created, changed, claimed by agents, and moved by rules that apply to every
 * caller.
 */
import { toTimestamp } from "../../core/clock.ts";
import { conflict, invalidField, isProblem, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { withoutNull } from "../../core/schema.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import { type ChecksDeps, createTaskChecks } from "./checks.ts";
import { type ClaimsDeps, createClaims } from "./claims.ts";
import type {
  NewTask,
  Task,
  TaskBulk,
  TaskBulkAnswer,
  TaskFilter,
  TaskHistoryEntry,
  TaskMove,
  TaskTransition,
  TaskUpdate,
  Transitioned,
} from "./model.ts";
import { FINISHED } from "./rules.ts";
import { presentTask, priorityOf, type TaskRow, type TaskStore } from "./store.ts";

export type Tasks = ReturnType<typeof createTasks>;

type TasksDeps = ChecksDeps & Omit<ClaimsDeps, "checks" | "rowOf" | "present">;

const GAP = 1_024;

export function createTasks(deps: TasksDeps) {
  const { store, clock, rows, rules, projectOf } = deps;
  const checks = createTaskChecks(deps);
  const { assertStatus, assertFields, findObstacle, nextStatuses } = checks;
  const rowOf = (projectId: string, id: string): TaskRow => {
    projectOf(projectId);
    const row = rows.find(id);
    if (!row || row.project_id !== projectId) throw notFound("task");
    return row;
  };
  const present = (row: TaskRow): Task => presentTask(row, rows.dependenciesOf([row.id]).get(row.id) ?? []);
  function transition(row: TaskRow, { status, note, force }: TaskTransition, caller: Caller): TaskRow {
    assertStatus(row.project_id, status);
    const problem = force ? undefined : findObstacle(row, status);
    if (problem) throw problem;
    const renewed = row.lease_until === null ? {} : { lease_until: clock.now() + LIMITS.taskLeaseMs };
    return rules.move(row, { status, note: { actor: actorOf(caller), change: "moved", note }, fields: renewed });
  }

  return {
    nextStatuses,
    ...createClaims({ ...deps, checks, rowOf, present }),
    list(projectId: string, filter: TaskFilter, page: Page): ListAnswer<Task> {
      projectOf(projectId);
      const found = rows.page(projectId, filter, page);
      const dependencies = rows.dependenciesOf(found.map(({ id }) => id));
      return listAnswer(found, page, rows.keyOf, (row) => presentTask(row, dependencies.get(row.id) ?? []));
    },
    /** @throws Problem 404, also for a task of another project. */
    get: (projectId: string, id: string): Task => present(rowOf(projectId, id)),
    /** @throws Problem 422 naming an invalid field. */
    create(projectId: string, input: NewTask, caller: Caller, id = newId("task")): Task {
      return store.write(() => {
        assertFields(projectId, input);
        checks.assertRelated(projectId, input.discovered_from, "/discovered_from");
        const status = input.status ?? "backlog";
        assertStatus(projectId, status);
        const at = toTimestamp(clock.now());
        const position = rows.lastPosition(projectId, status) + GAP;
        const row = {
          ...newRow(input, status, at),
          id,
          project_id: projectId,
          position,
          created_by: caller.userId ?? null,
        };
        rows.insert(row, input.depends_on ?? [], { actor: actorOf(caller), change: "created", to: status });
        return present(row);
      });
    },
    update(projectId: string, id: string, input: TaskUpdate, caller: Caller): Task {
      return store.write(() => {
        const row = rowOf(projectId, id);
        assertFields(projectId, input, id);
        const note = { actor: actorOf(caller), change: "updated" as const, note: Object.keys(input).join(", ") };
        return present(rows.update(row.id, fieldsOf(input), note, input.depends_on));
      });
    },
    remove(projectId: string, id: string, caller: Caller): void {
      store.write(() => {
        const row = rowOf(projectId, id);
        if (row.run_id !== null && !FINISHED.has(row.status) && row.status === "in_progress")
          throw conflict("A run is at work on the task. Cancel the run first.", "task_busy");
        rows.remove(row, actorOf(caller));
      });
    },
    /** @throws Problem 422 for a status that is not on the board, 409 naming the rule that forbids it. */
    transition(projectId: string, id: string, input: TaskTransition, caller: Caller): Transitioned {
      return store.write(() => {
        const row = transition(rowOf(projectId, id), input, caller);
        return { ...present(row), next_statuses: nextStatuses(row) };
      });
    },
    move(projectId: string, id: string, { status, before, after }: TaskMove, caller: Caller): Task {
      if (before !== undefined && after !== undefined)
        throw invalidField("/after", "Name one neighbour: before or after");
      return store.write(() => {
        let row = rowOf(projectId, id);
        if (status !== undefined && status !== row.status) row = transition(row, { status }, caller);
        const neighbour = before ?? after;
        if (neighbour === undefined || neighbour === id) return present(row);
        place(rows, row, neighbour, before === undefined);
        return present(rows.update(id, {}, { actor: actorOf(caller), change: "moved" }));
      });
    },
    /**
     * Changes each task separately. A task that cannot be changed gets a reason in the answer; the others are changed.
     */
    bulk(projectId: string, { ids, change }: TaskBulk, caller: Caller): TaskBulkAnswer {
      projectOf(projectId);
      const { status, add_tags = [], remove_tags = [], ...fields } = change;
      const changeOne = (id: string): Task =>
        store.write(() => {
          const row = rowOf(projectId, id);
          checks.assertAgent(fields.assigned_agent, "/change/assigned_agent");
          if (status !== undefined) transition(row, { status }, caller);
          const tags = [...new Set([...row.tags, ...add_tags])].filter((tag) => !remove_tags.includes(tag));
          const note = { actor: actorOf(caller), change: "updated" as const, note: Object.keys(change).join(", ") };
          return present(rows.update(id, { ...fieldsOf(fields), tags }, note));
        });
      return {
        items: [...new Set(ids)].map((id) => {
          try {
            return { id, task: changeOne(id), error: null };
          } catch (error) {
            if (!isProblem(error)) throw error;
            return { id, task: null, error: { code: error.code, message: error.detail } };
          }
        }),
      };
    },
    history(projectId: string, id: string, page: Page): ListAnswer<TaskHistoryEntry> {
      rowOf(projectId, id);
      return listAnswer(rows.history(id, page), page, (entry) => String(entry.id));
    },
  };
}

/** The row of a new task, except id, project, position and creator. */
const newRow = (
  input: NewTask,
  status: string,
  at: string,
): Omit<TaskRow, "id" | "project_id" | "position" | "created_by"> => ({
  title: input.title,
  description: input.description ?? "",
  status,
  blocked_from: null,
  priority: priorityOf(input.priority ?? "p2"),
  work_type: input.work_type ?? null,
  assigned_agent: input.assigned_agent ?? null,
  lease_until: null,
  parent_id: input.parent_id ?? null,
  discovered_from: input.discovered_from ?? null,
  tags: [...new Set(input.tags)],
  estimate_hours: input.estimate_hours ?? null,
  branch: null,
  run_id: null,
  completed_stages: [],
  metadata: input.metadata ?? {},
  created_at: at,
  updated_at: at,
  finished_at: FINISHED.has(status) ? at : null,
  outside: input.outside ?? null,
  claimed_by: null,
});

const fieldsOf = ({ priority, depends_on: _, trusted, ...rest }: TaskUpdate): Partial<TaskRow> => ({
  ...(trusted ? { outside: null } : {}),
  ...withoutNull(rest),
  ...(priority === undefined ? {} : { priority: priorityOf(priority) }),
});

/** Puts a row before or after a neighbor. If no number is left between them, the column is renumbered. */
function place(rows: TaskStore, row: TaskRow, neighbourId: string, behind: boolean): void {
  const others = rows.column(row.project_id, row.status).filter(({ id }) => id !== row.id);
  const found = others.findIndex(({ id }) => id === neighbourId);
  if (found < 0) throw invalidField(behind ? "/after" : "/before", `No such task is ${row.status}`);
  const at = behind ? found + 1 : found;
  const low = others[at - 1]?.position ?? (others[at]?.position ?? 0) - 2 * GAP;
  const high = others[at]?.position ?? low + 2 * GAP;
  const position = Math.floor((low + high) / 2);
  if (position > low && position < high) return rows.reposition(row.id, position);
  const order = [...others.slice(0, at), row, ...others.slice(at)];
  for (const [index, { id }] of order.entries()) rows.reposition(id, (index + 1) * GAP);
}
