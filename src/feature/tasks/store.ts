/** Rows of tasks, their dependencies and their history, and the event that goes with each change. */
import { and, asc, count, desc, eq, inArray, isNotNull, isNull, lt, ne, type SQL, sql } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import { badCursor, numberAfter, type Page } from "../../http/list.ts";
import { containsText } from "../../store/contains-text.ts";
import type { Store } from "../../store/store.ts";
import { taskDependencies, taskHistory, tasks } from "../../store/tables/tasks.ts";
import { taskChanged } from "./events.ts";
import type { Task, TaskFilter, TaskHistoryEntry } from "./model.ts";

export type TaskRow = typeof tasks.$inferSelect;
export type TaskChange = "created" | "updated" | "moved" | "claimed" | "released" | "deleted";

export interface HistoryNote {
  actor: string;
  change: TaskChange;
  from?: string | undefined;
  to?: string | undefined;
  note?: string | undefined;
}

export interface TaskStore {
  find(id: string): TaskRow | undefined;
  /** One more than the page holds when there is a next one. In the board's order; what is ready by priority first. */
  page(projectId: string, filter: TaskFilter, page: Page): TaskRow[];
  /** Sort key of a row in that order, for cursors. */
  keyOf(row: TaskRow): string;
  dependenciesOf(ids: readonly string[]): Map<string, string[]>;
  /** Ids of what a task depends on that is not done. */
  unmet(id: string): string[];
  /** Tasks that depend on it. */
  dependents(id: string): TaskRow[];
  /** Ids it can be reached from by dependencies, itself included. */
  upstream(ids: readonly string[]): Set<string>;
  children(id: string): TaskRow[];
  inStatuses(projectId: string, statuses: readonly string[]): number;
  /** Neighbours in board order within a status. */
  column(projectId: string, status: string): { id: string; position: number }[];
  lastPosition(projectId: string, status: string): number;
  expired(now: number): TaskRow[];
  nextLease(): number | undefined;
  withRun(): TaskRow[];
  ofRun(runId: string): TaskRow | undefined;
  insert(row: TaskRow, dependsOn: readonly string[], note: HistoryNote): void;
  update(id: string, fields: Partial<TaskRow>, note: HistoryNote, dependsOn?: readonly string[]): TaskRow;
  reposition(id: string, position: number): void;
  remove(row: TaskRow, actor: string): void;
  history(id: string, page: Page): TaskHistoryEntry[];
}

const PRIORITIES = ["p0", "p1", "p2", "p3"] as const;
export const priorityOf = (priority: Task["priority"]): number => PRIORITIES.indexOf(priority);

export function presentTask({ blocked_from: _b, claimed_by: _c, ...row }: TaskRow, dependsOn: readonly string[]): Task {
  return {
    ...row,
    priority: PRIORITIES[row.priority] ?? "p2",
    work_type: row.work_type,
    lease_until: row.lease_until === null ? null : timestamp(row.lease_until),
    depends_on: [...dependsOn],
  };
}

const READY = and(
  // As the partial index has it.
  sql`${tasks.status} = 'ready'`,
  isNull(tasks.lease_until),
  sql`NOT EXISTS (SELECT 1 FROM task_dependencies d JOIN tasks o ON o.id = d.depends_on
      WHERE d.task_id = ${tasks.id} AND o.status <> 'done')`,
);

function conditionOf({ status, priority, agent_id, tag, parent_id, q, ready }: TaskFilter): SQL | undefined {
  return and(
    status === undefined ? undefined : eq(tasks.status, status),
    priority === undefined ? undefined : eq(tasks.priority, priorityOf(priority)),
    agent_id === undefined ? undefined : eq(tasks.assigned_agent, agent_id),
    tag === undefined ? undefined : sql`EXISTS (SELECT 1 FROM json_each(${tasks.tags}) WHERE value = ${tag})`,
    parent_id === undefined ? undefined : eq(tasks.parent_id, parent_id),
    q === undefined ? undefined : containsText(tasks.title, q),
    ready ? READY : undefined,
  );
}

export function createTaskStore(store: Store, clock: Clock): TaskStore {
  const { db } = store;
  const find = (id: string) => db.select().from(tasks).where(eq(tasks.id, id)).get();
  const now = () => timestamp(clock.now());

  const note = (id: string, { actor, change, from, to, note: said }: HistoryNote): void =>
    void db
      .insert(taskHistory)
      .values({ task_id: id, at: now(), actor, change, from_status: from, to_status: to, note: said })
      .run();
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
    db.delete(taskDependencies).where(eq(taskDependencies.task_id, id)).run();
    for (const depends_on of new Set(dependsOn)) db.insert(taskDependencies).values({ task_id: id, depends_on }).run();
  };
  const dependenciesOf = (ids: readonly string[]): Map<string, string[]> => {
    const found = new Map<string, string[]>();
    const rows = db
      .select()
      .from(taskDependencies)
      .where(inArray(taskDependencies.task_id, [...ids]))
      .orderBy(asc(taskDependencies.depends_on))
      .all();
    for (const { task_id, depends_on } of rows) {
      const list = found.get(task_id);
      if (list) list.push(depends_on);
      else found.set(task_id, [depends_on]);
    }
    return found;
  };

  return {
    find,
    page(projectId, filter, { limit, after }) {
      const [, priority, position, id] = after === null ? [] : (/^(\d)\|(-?\d{1,15})\|(task_\w+)$/.exec(after) ?? [""]);
      if (after !== null && id === undefined) throw badCursor();
      const place = sql`(${tasks.position}, ${tasks.id})`;
      const later = filter.ready
        ? sql`(${tasks.priority}, ${tasks.position}, ${tasks.id}) > (${Number(priority)}, ${Number(position)}, ${id})`
        : sql`${place} > (${Number(position)}, ${id})`;
      const order = [...(filter.ready ? [asc(tasks.priority)] : []), asc(tasks.position), asc(tasks.id)];
      return db
        .select()
        .from(tasks)
        .where(and(eq(tasks.project_id, projectId), conditionOf(filter), id === undefined ? undefined : later))
        .orderBy(...order)
        .limit(limit + 1)
        .all();
    },
    keyOf: (row) => `${row.priority}|${row.position}|${row.id}`,
    dependenciesOf,
    unmet: (id) =>
      db
        .select({ id: tasks.id })
        .from(taskDependencies)
        .innerJoin(tasks, eq(tasks.id, taskDependencies.depends_on))
        .where(and(eq(taskDependencies.task_id, id), ne(tasks.status, "done")))
        .all()
        .map((row) => row.id),
    dependents: (id) =>
      db
        .select({ task: tasks })
        .from(taskDependencies)
        .innerJoin(tasks, eq(tasks.id, taskDependencies.task_id))
        .where(eq(taskDependencies.depends_on, id))
        .all()
        .map(({ task }) => task),
    upstream(ids) {
      const seen = new Set(ids);
      for (let next = [...ids]; next.length > 0; ) {
        const found = [...dependenciesOf(next).values()].flat().filter((id) => !seen.has(id));
        for (const id of found) seen.add(id);
        next = found;
      }
      return seen;
    },
    children: (id) => db.select().from(tasks).where(eq(tasks.parent_id, id)).all(),
    inStatuses: (projectId, statuses) =>
      db
        .select({ rows: count() })
        .from(tasks)
        .where(and(eq(tasks.project_id, projectId), inArray(tasks.status, [...statuses])))
        .get()!.rows,
    column: (projectId, status) =>
      db
        .select({ id: tasks.id, position: tasks.position })
        .from(tasks)
        .where(and(eq(tasks.project_id, projectId), eq(tasks.status, status)))
        .orderBy(asc(tasks.position), asc(tasks.id))
        .all(),
    lastPosition: (projectId, status) =>
      db
        .select({ last: sql<number>`ifnull(max(${tasks.position}), 0)` })
        .from(tasks)
        .where(and(eq(tasks.project_id, projectId), eq(tasks.status, status)))
        .get()!.last,
    expired: (time) => db.select().from(tasks).where(lt(tasks.lease_until, time)).all(),
    nextLease: () =>
      db
        .select({ at: sql<number | null>`min(${tasks.lease_until})` })
        .from(tasks)
        .where(isNotNull(tasks.lease_until))
        .get()?.at ?? undefined,
    withRun: () =>
      db
        .select()
        .from(tasks)
        .where(and(isNotNull(tasks.run_id), isNull(tasks.finished_at)))
        .all(),
    ofRun: (runId) => db.select().from(tasks).where(eq(tasks.run_id, runId)).get(),
    insert(row, dependsOn, made) {
      store.write(() => {
        db.insert(tasks).values(row).run();
        setDependencies(row.id, dependsOn);
        note(row.id, made);
        publish(row, made.change);
      });
    },
    update(id, fields, changed, dependsOn) {
      return store.write(() => {
        db.update(tasks)
          .set({ ...fields, updated_at: now() })
          .where(eq(tasks.id, id))
          .run();
        if (dependsOn) setDependencies(id, dependsOn);
        const row = find(id)!;
        note(id, changed);
        publish(row, changed.change);
        return row;
      });
    },
    reposition(id, position) {
      db.update(tasks).set({ position }).where(eq(tasks.id, id)).run();
    },
    remove(row, _actor) {
      store.write(() => {
        db.delete(tasks).where(eq(tasks.id, row.id)).run();
        publish(row, "deleted");
      });
    },
    history(id, page) {
      const last = numberAfter(page);
      const before = last === undefined ? undefined : lt(taskHistory.id, last);
      return db
        .select()
        .from(taskHistory)
        .where(and(eq(taskHistory.task_id, id), before))
        .orderBy(desc(taskHistory.id))
        .limit(page.limit + 1)
        .all()
        .map(({ task_id: _, ...entry }) => entry);
    },
  };
}
