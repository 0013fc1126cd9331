/** Rows of tasks, their dependencies and history, and the event of each change. */
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { badCursor, numberAfter, type Page } from "../../http/list.ts";
import { type Condition, contains, matchInJson } from "../../store/reader.ts";
import type { Where } from "../../store/rows.ts";
import type { Store } from "../../store/store.ts";
import { taskDependencies, taskHistory, tasks } from "../../store/tables/tasks.ts";
import { taskChanged } from "./events.ts";
import type { Task, TaskFilter, TaskHistoryEntry } from "./model.ts";

export type TaskRow = typeof tasks.$inferSelect;
type TaskChange = "created" | "updated" | "moved" | "claimed" | "released" | "deleted";

export interface HistoryNote {
  actor: string;
  change: TaskChange;
  from?: string | undefined;
  to?: string | undefined;
  note?: string | undefined;
}

export type TaskStore = ReturnType<typeof createTaskStore>;

const PRIORITIES = ["p0", "p1", "p2", "p3"] as const;
export const priorityOf = (priority: Task["priority"]): number => PRIORITIES.indexOf(priority);

export function presentTask({ blocked_from: _b, claimed_by: _c, ...row }: TaskRow, dependsOn: readonly string[]): Task {
  return {
    ...row,
    priority: PRIORITIES[row.priority] ?? "p2",
    work_type: row.work_type,
    lease_until: row.lease_until === null ? null : toTimestamp(row.lease_until),
    depends_on: [...dependsOn],
  };
}

/** Tasks that are ready. `status` and `lease_until` are written as the partial index has them. */
const READY: Condition = [
  `status = 'ready' AND lease_until IS NULL AND NOT EXISTS (SELECT 1 FROM task_dependencies d
    JOIN tasks o ON o.id = d.depends_on WHERE d.task_id = tasks.id AND o.status <> 'done')`,
];

const conditionsOf = ({ status, priority, agent_id, tag, parent_id, q, ready }: TaskFilter): Where<typeof tasks>[] => [
  { status, priority: priority && priorityOf(priority), assigned_agent: agent_id, parent_id },
  tag === undefined ? undefined : ["EXISTS (SELECT 1 FROM json_each(tasks.tags) WHERE value = ?)", tag],
  q === undefined ? undefined : contains("title", q),
  ready ? READY : undefined,
];

export function createTaskStore(store: Store, clock: Clock) {
  const { statement } = store;
  const [rows, links, notes] = [store.rows(tasks), store.rows(taskDependencies), store.rows(taskHistory)];
  const find = (id: string) => rows.find({ id });
  const readNow = () => toTimestamp(clock.now());

  const note = (id: string, { actor, change, from, to, note: said }: HistoryNote): void =>
    notes.insert({ task_id: id, at: readNow(), actor, change, from_status: from, to_status: to, note: said });
  const publish = (row: TaskRow, change: TaskChange): void =>
    store.write(({ emit }) =>
      emit(taskChanged, {
        project_id: row.project_id,
        agent_id: row.assigned_agent ?? undefined,
        run_id: row.run_id ?? undefined,
        data: { task_id: row.id, change, status: row.status, title: row.title },
      }),
    );
  const setDependencies = (id: string, dependsOn: readonly string[]): void => {
    links.remove({ task_id: id });
    for (const depends_on of new Set(dependsOn)) links.insert({ task_id: id, depends_on });
  };
  const dependenciesOf = (ids: readonly string[]): Map<string, string[]> => {
    const found = new Map<string, string[]>();
    for (const { task_id, depends_on } of links.list([matchInJson("task_id", ids)], { order: "depends_on" })) {
      const list = found.get(task_id);
      if (list) list.push(depends_on);
      else found.set(task_id, [depends_on]);
    }
    return found;
  };

  return {
    find,
    /**
     * Tasks in the order of the board, or ready ones by priority first. Holds one more than the page when there is a
     * next page.
     */
    page(projectId: string, filter: TaskFilter, { limit, after }: Page): TaskRow[] {
      const [, priority, position, id] = after === null ? [] : (/^(\d)\|(-?\d{1,15})\|(task_\w+)$/.exec(after) ?? [""]);
      if (after !== null && id === undefined) throw badCursor();
      const order = filter.ready ? "priority, position, id" : "position, id";
      const place = [...(filter.ready ? [Number(priority)] : []), Number(position)];
      const later: Condition =
        id === undefined ? undefined : [`(${order}) > (${place.map(() => "?, ").join("")}?)`, ...place, id];
      return rows.list([{ project_id: projectId }, ...conditionsOf(filter), later], { order, limit: limit + 1 });
    },
    /** Sort key of a row in the page's order, for cursors. */
    keyOf: (row: TaskRow): string => `${row.priority}|${row.position}|${row.id}`,
    dependenciesOf,
    /** Ids of the tasks that the task depends on and that are not done. */
    listUnmet: (id: string): string[] =>
      statement<{ id: string }>(
        `SELECT tasks.id FROM task_dependencies d JOIN tasks ON tasks.id = d.depends_on
         WHERE d.task_id = ? AND tasks.status <> 'done'`,
      )
        .all(id)
        .map((row) => row.id),
    /** Tasks that depend on this one. */
    dependents: (id: string): TaskRow[] =>
      rows.list([["id IN (SELECT task_id FROM task_dependencies WHERE depends_on = ?)", id]]),
    /** Ids of the given tasks and of all tasks that they depend on, directly or indirectly. */
    upstream(ids: readonly string[]): Set<string> {
      const seen = new Set(ids);
      for (let next = [...ids]; next.length > 0; ) {
        const found = [...dependenciesOf(next).values()].flat().filter((id) => !seen.has(id));
        for (const id of found) seen.add(id);
        next = found;
      }
      return seen;
    },
    children: (id: string): TaskRow[] => rows.list([{ parent_id: id }]),
    inStatuses: (projectId: string, statuses: readonly string[]): number =>
      rows.count({ project_id: projectId }, matchInJson("status", statuses)),
    /** Tasks of a status in the order of the board. */
    column: (projectId: string, status: string): { id: string; position: number }[] =>
      statement<{ id: string; position: number }>(
        "SELECT id, position FROM tasks WHERE project_id = ? AND status = ? ORDER BY position, id",
      ).all(projectId, status),
    lastPosition: (projectId: string, status: string): number =>
      statement<{ last: number }>(
        "SELECT ifnull(max(position), 0) AS last FROM tasks WHERE project_id = ? AND status = ?",
      ).get(projectId, status)!.last,
    listExpired: (time: number): TaskRow[] => rows.list([["lease_until < ?", time]]),
    nextLease: (): number | undefined =>
      statement<{ at: number | null }>("SELECT min(lease_until) AS at FROM tasks WHERE lease_until IS NOT NULL").get()
        ?.at ?? undefined,
    withRun: (): TaskRow[] => rows.list([["run_id IS NOT NULL AND finished_at IS NULL"]]),
    ofRun: (runId: string): TaskRow | undefined => rows.find({ run_id: runId }),
    insert(row: TaskRow, dependsOn: readonly string[], made: HistoryNote): void {
      store.write(() => {
        rows.insert(row);
        setDependencies(row.id, dependsOn);
        note(row.id, made);
        publish(row, made.change);
      });
    },
    update(id: string, fields: Partial<TaskRow>, changed: HistoryNote, dependsOn?: readonly string[]): TaskRow {
      return store.write(() => {
        rows.update({ ...fields, updated_at: readNow() }, { id });
        if (dependsOn) setDependencies(id, dependsOn);
        const row = find(id)!;
        note(id, changed);
        publish(row, changed.change);
        return row;
      });
    },
    reposition(id: string, position: number): void {
      rows.update({ position }, { id });
    },
    remove(row: TaskRow, _actor: string): void {
      store.write(() => {
        rows.remove({ id: row.id });
        publish(row, "deleted");
      });
    },
    history(id: string, page: Page): TaskHistoryEntry[] {
      const last = numberAfter(page);
      const before: Condition = last === undefined ? undefined : ["id < ?", last];
      return notes
        .list([{ task_id: id }, before], { order: "id DESC", limit: page.limit + 1 })
        .map(({ task_id: _, ...entry }) => entry);
    },
  };
}
