/** Rows of projects, and the event that goes with each change. */
import { type Clock, toTimestamp } from "../../core/clock.ts";
import type { Asker } from "../../core/ownership.ts";
import type { Page } from "../../http/list.ts";
import type { OpenTo } from "../../store/project-access.ts";
import type { Condition } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { projects } from "../../store/tables/projects.ts";
import { buildReadCondition, WHOSE } from "../../store/whose.ts";
import { DEFAULT_COLUMNS } from "./board.ts";
import { projectChanged } from "./events.ts";
import type { Project, ProjectFilter } from "./model.ts";

export type ProjectRow = typeof projects.$inferSelect;
type ProjectChange = "created" | "updated" | "deleted" | "workspace";

export type ProjectStore = ReturnType<typeof createProjectStore>;

export function createProjectStore(store: Store, clock: Clock) {
  const { statement } = store;
  const rows = store.rows(projects);
  const find = (id: string) => rows.find({ id });
  const sameName = (name: string): Condition => ["name = ? COLLATE NOCASE", name];
  const publish = (row: ProjectRow, change: ProjectChange) =>
    store.write(({ emit }) =>
      emit(projectChanged, {
        project_id: row.id,
        data: { change, name: row.name, status: row.status, workspace: presentWorkspace(row) },
      }),
    );
  return {
    find,
    /** Runs of the project that have not ended. */
    activeRuns: (id: string): number =>
      statement<{ active: number }>(
        "SELECT count(*) AS active FROM runs WHERE project_id = ? AND finished_at IS NULL",
      ).get(id)!.active,
    /** Names are compared ignoring case. */
    findByName: (name: string): ProjectRow | undefined => rows.find(sameName(name)),
    /** Projects of a page, newest first. Holds one more than the page when there is a next page. */
    page({ name, status }: ProjectFilter, page: Page, asker: Asker): ProjectRow[] {
      const named = name === undefined ? undefined : sameName(name);
      return rows.page([buildReadCondition(asker, WHOSE.projects), named, { status }], page);
    },
    inState: (state: ProjectRow["workspace_state"]): ProjectRow[] => rows.list([{ workspace_state: state }]),
    ids: (): string[] =>
      statement<{ id: string }>("SELECT id FROM projects")
        .all()
        .map((row) => row.id),
    /** Number of tasks by status, for each of these projects that has any. */
    taskCounts(ids: readonly string[]): Map<string, Record<string, number>> {
      const counts = new Map<string, Record<string, number>>();
      const found = statement<{ id: string; status: string; tasks: number }>(
        `SELECT project_id AS id, status, count(*) AS tasks FROM tasks
         WHERE project_id IN (SELECT value FROM json_each(?)) GROUP BY project_id, status`,
      ).all(JSON.stringify(ids));
      for (const { id, status, tasks } of found) counts.set(id, { ...counts.get(id), [status]: tasks });
      return counts;
    },
    insert(row: ProjectRow): void {
      store.write(() => {
        rows.insert(row);
        publish(row, "created");
      });
    },
    /** Changes a row and publishes the change. Does nothing when the row is gone. */
    update(id: string, fields: Partial<ProjectRow>, change: ProjectChange): void {
      store.write(() => {
        rows.update({ ...fields, updated_at: toTimestamp(clock.now()) }, { id });
        const row = find(id);
        if (row) publish(row, change);
      });
    },
    remove(row: ProjectRow): void {
      store.write(() => {
        rows.remove({ id: row.id });
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

/** @param counts number of tasks by status. */
export function presentProject(row: ProjectRow, access: OpenTo, counts: Record<string, number> = {}): Project {
  const { workspace_state: _s, workspace_error: _e, workspace_head: _h, fetched_at: _f, columns, ...rest } = row;
  return { ...rest, access, columns: columns ?? [...DEFAULT_COLUMNS], counts, workspace: presentWorkspace(row) };
}
