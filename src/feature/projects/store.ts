/** Rows of projects, and the event that goes with each change. */
import { and, count, desc, eq, inArray, isNull, lt, type SQL, sql } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import type { Asker } from "../../core/ownership.ts";
import type { Page } from "../../http/list.ts";
import type { OpenTo } from "../../store/project-access.ts";
import type { Store } from "../../store/store.ts";
import { projects } from "../../store/tables/projects.ts";
import { runs } from "../../store/tables/runs.ts";
import { tasks } from "../../store/tables/tasks.ts";
import { asSql, readable, WHOSE } from "../../store/whose.ts";
import { DEFAULT_COLUMNS } from "./board.ts";
import { projectChanged } from "./events.ts";
import type { Project, ProjectFilter } from "./model.ts";

export type ProjectRow = typeof projects.$inferSelect;
export type ProjectChange = "created" | "updated" | "deleted" | "workspace";

export interface ProjectStore {
  find(id: string): ProjectRow | undefined;
  /** Names are compared ignoring case. */
  findByName(name: string): ProjectRow | undefined;
  /** Newest first, one more than the page holds when there is a next one. */
  page(filter: ProjectFilter, page: Page, asker: Asker): ProjectRow[];
  inState(state: ProjectRow["workspace_state"]): ProjectRow[];
  ids(): string[];
  /** Runs of the project that have not ended. */
  activeRuns(id: string): number;
  /** Tasks by status of each of these projects that has any. */
  taskCounts(ids: readonly string[]): Map<string, Record<string, number>>;
  insert(row: ProjectRow): void;
  /** Changes a row and publishes it. No-op when it is gone. */
  update(id: string, fields: Partial<ProjectRow>, change: ProjectChange): void;
  remove(row: ProjectRow): void;
}

export function createProjectStore(store: Store, clock: Clock): ProjectStore {
  const { db } = store;
  const find = (id: string) => db.select().from(projects).where(eq(projects.id, id)).get();
  const sameName = (name: string): SQL => sql`${projects.name} = ${name} COLLATE NOCASE`;
  const publish = (row: ProjectRow, change: ProjectChange) =>
    store.write(({ emit }) =>
      emit(projectChanged, {
        project_id: row.id,
        data: { change, name: row.name, status: row.status, workspace: presentWorkspace(row) },
      }),
    );
  return {
    find,
    activeRuns: (id) =>
      db
        .select({ rows: count() })
        .from(runs)
        .where(and(eq(runs.project_id, id), isNull(runs.finished_at)))
        .get()!.rows,
    findByName: (name) => db.select().from(projects).where(sameName(name)).get(),
    page({ name, status }, { limit, after }, asker) {
      const where = and(
        asSql(readable(asker, WHOSE.projects)),
        name === undefined ? undefined : sameName(name),
        status === undefined ? undefined : eq(projects.status, status),
        after === null ? undefined : lt(projects.id, after),
      );
      const rows = db.select().from(projects).where(where).orderBy(desc(projects.id));
      return rows.limit(limit + 1).all();
    },
    inState: (state) => db.select().from(projects).where(eq(projects.workspace_state, state)).all(),
    ids: () =>
      db
        .select({ id: projects.id })
        .from(projects)
        .all()
        .map((row) => row.id),
    taskCounts(ids) {
      const counts = new Map<string, Record<string, number>>();
      const rows = db
        .select({ id: tasks.project_id, status: tasks.status, rows: count() })
        .from(tasks)
        .where(inArray(tasks.project_id, [...ids]))
        .groupBy(tasks.project_id, tasks.status)
        .all();
      for (const { id, status, rows: found } of rows) counts.set(id, { ...counts.get(id), [status]: found });
      return counts;
    },
    insert(row) {
      store.write(() => {
        db.insert(projects).values(row).run();
        publish(row, "created");
      });
    },
    update(id, fields, change) {
      store.write(() => {
        db.update(projects)
          .set({ ...fields, updated_at: timestamp(clock.now()) })
          .where(eq(projects.id, id))
          .run();
        const row = find(id);
        if (row) publish(row, change);
      });
    },
    remove(row) {
      store.write(() => {
        db.delete(projects).where(eq(projects.id, row.id)).run();
        publish(row, "deleted");
      });
    },
  };
}

const presentWorkspace = (row: ProjectRow): Project["workspace"] => ({
  state: row.workspace_state,
  error: row.workspace_error,
  head: row.workspace_head,
  fetched_at: row.fetched_at,
});

/** @param counts tasks by status. */
export function presentProject(row: ProjectRow, access: OpenTo, counts: Record<string, number> = {}): Project {
  const { workspace_state: _s, workspace_error: _e, workspace_head: _h, fetched_at: _f, columns, ...rest } = row;
  return { ...rest, access, columns: columns ?? [...DEFAULT_COLUMNS], counts, workspace: presentWorkspace(row) };
}
