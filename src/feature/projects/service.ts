/** Projects: what runs work on. The repository is cloned in the background, and the row shows the progress. */
import { readdir } from "node:fs/promises";
import { toTimestamp } from "../../core/clock.ts";
import { conflict, expectFound, invalidField } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Asker } from "../../core/ownership.ts";
import { isBranchName } from "../../core/ref-name.ts";
import { withoutNull } from "../../core/schema.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import { mayRead, WHOSE } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import { boardOf, DEFAULT_COLUMNS } from "./board.ts";
import type { Clones } from "./clones.ts";
import type { BoardColumn, NewProject, PlainProject, Project, ProjectFilter, ProjectUpdate } from "./model.ts";
import { parseRepository, type RepositoryRules } from "./repository-address.ts";
import { type ProjectRow, type ProjectStore, presentProject } from "./store.ts";

interface ProjectsDeps extends Pick<Core, "store" | "clock" | "audit" | "access"> {
  rows: ProjectStore;
  clones: Clones;
  rules: RepositoryRules;
  /** Folder that holds one folder per project. */
  folder: string;
  pipelineExists(id: string): boolean;
  /** Number of executions of chats, swarms, spawned work and routines that are at work on the project's branches. */
  atWork(projectId: string): number;
  /** Branches of the project's runs and sessions that were never merged. */
  listUnmerged(projectId: string): Promise<string[]>;
  /** Makes another branch of the clone the default. @throws Problem 409, 422. */
  switchTo(projectId: string, branch: string): Promise<void>;
  /** Starts an update of the project's clone. */
  update(projectId: string, userId: string | undefined): unknown;
  /** Ends the work in the project's clone, and removes the clone and the working copies of runs. */
  discard(projectId: string): Promise<void>;
}

export type Projects = ReturnType<typeof createProjects>;

export function createProjects(deps: ProjectsDeps) {
  const { store, rows, clock, audit, clones, rules, folder, pipelineExists, access } = deps;
  const present = (row: ProjectRow, counts?: Record<string, number>): Project =>
    presentProject(row, access.openTo(row.id), counts);
  const find = (id: string): ProjectRow => expectFound(rows.find(id), "project");
  const assertName = (name: string, own?: string): void => {
    const holder = rows.findByName(name);
    if (holder && holder.id !== own) throw conflict("A project with this name exists. Choose another name.");
  };
  const sourceOf = (repository: string | null | undefined): string | null =>
    repository ? parseRepository(repository, rules).source : null;
  const tasksOf = (id: string) => rows.taskCounts([id]).get(id);
  const presentWithCounts = (row: ProjectRow): Project => present(row, tasksOf(row.id));
  const begin = (row: ProjectRow): Project => {
    if (row.workspace_state === "cloning") clones.start(row);
    return presentWithCounts(row);
  };
  return {
    /** The projects that the caller sees. */
    list(filter: ProjectFilter, page: Page, asker: Asker): ListAnswer<Project> {
      const found = rows.page(filter, page, asker);
      const counts = rows.taskCounts(found.map(({ id }) => id));
      return listAnswer(
        found,
        page,
        (row) => row.id,
        (row) => present(row, counts.get(row.id)),
      );
    },
    /** @throws Problem 404. */
    get: (id: string): Project => presentWithCounts(find(id)),
    /** As `get`, without counting the project's tasks. @throws Problem 404. */
    plain: (id: string): PlainProject => present(find(id)),
    /** Finds a project by name, for runs. Undefined also for a project that the asker does not see. */
    byName(name: string, asker: Asker): Project | undefined {
      const row = rows.findByName(name);
      return row && mayRead(asker, WHOSE.projects, row) ? presentWithCounts(row) : undefined;
    },
    /** Whether the name is taken, also by a project that the caller does not see: names are unique. */
    isTaken: (name: string): boolean => rows.findByName(name) !== undefined,
    /** Whether the project exists; false also for a project that the asker does not see. */
    exists(id: string, asker: Asker): boolean {
      const row = rows.find(id);
      return row !== undefined && mayRead(asker, WHOSE.projects, row);
    },
    count: (): number => rows.ids().length,
    /** @throws Problem 409 when the name is taken, 422 for an invalid repository, branch or pipeline. */
    create(input: NewProject, caller: Caller): Project {
      const source = sourceOf(input.repository);
      assertBranch(input.default_branch);
      assertPipeline(input.default_pipeline_id, pipelineExists);
      const row = newRow(input, source, toTimestamp(clock.now()));
      return store.write(() => {
        assertName(row.name);
        const { userId } = caller;
        if (input.access !== undefined && input.access !== "everyone") {
          if (userId === undefined) throw invalidField("/access", "Only somebody with an account closes a project");
          access.open(row.id, input.access);
        }
        // The owner is added before the event is emitted, because the event goes to those who may see the project.
        if (userId !== undefined) addOwner(deps, row.id, userId);
        rows.insert(row);
        return begin(row);
      });
    },
    /** @throws Problem 409 name taken, or another repository already cloned; 422 for a branch that the clone lacks. */
    async update(id: string, { repository, columns, trusted, ...fields }: ProjectUpdate): Promise<Project> {
      const board = columns === undefined ? {} : { columns: columns && boardOf(columns) };
      const source = repository === undefined ? undefined : sourceOf(repository);
      assertBranch(fields.default_branch);
      assertPipeline(fields.default_pipeline_id, pipelineExists);
      if (fields.default_branch) await deps.switchTo(find(id).id, fields.default_branch);
      return store.write(() => {
        const row = find(id);
        if (fields.name !== undefined) assertName(fields.name, id);
        if (board.columns !== undefined) assertRoom(board.columns, tasksOf(id));
        const confirmed = trusted ? { outside: null } : {};
        rows.update(id, { ...withoutNull(fields), ...confirmed, ...board, ...newRepository(row, source) }, "updated");
        return begin(find(id));
      });
    },
    /** Sets the project's vision in Markdown; null removes it. @throws Problem 404. */
    setVision(id: string, vision: string | null): Project {
      return store.write(() => {
        find(id);
        rows.update(id, { vision }, "updated");
        return presentWithCounts(find(id));
      });
    },
    /**
     * Makes sure that there is a clone: starts a failed one again, joins one in progress, or updates an existing one.
     * @throws Problem 409 `no_repository`.
     */
    clone: (id: string, userId: string | undefined): Project =>
      store.write(() => {
        const row = find(id);
        if (row.repository === null) throw conflict("The project has no repository to clone.", "no_repository");
        if (row.workspace_state === "ready") deps.update(id, userId);
        if (row.workspace_state === "ready" || row.workspace_state === "cloning") return presentWithCounts(row);
        rows.update(id, { workspace_state: "cloning", workspace_error: null }, "workspace");
        return begin(find(id));
      }),
    /**
     * Removes the project with its workspace.
     * @throws Problem 409 while runs or agents are at work; `unmerged_branches` with their names unless `force`.
     */
    async remove(id: string, force: boolean, caller: Caller): Promise<void> {
      const lost = force || find(id).workspace_state !== "ready" ? [] : await deps.listUnmerged(id);
      if (lost.length > 0) throw notMerged(lost);
      store.write(() => {
        const row = find(id);
        if (rows.activeRuns(id) > 0)
          throw conflict("Runs are at work on this project. Cancel them first.", "project_busy");
        if (deps.atWork(id) > 0)
          throw conflict(
            "Agents are at work on branches of this project. Wait for them, or stop them.",
            "project_busy",
          );
        // A closed project's members stay on record, so that its runs remain as closed as it was.
        if (access.openTo(id) === "everyone") access.forget(id);
        rows.remove(row);
        const data = { name: row.name };
        audit({ action: "project.deleted", ...actedBy(caller), subject: id, data });
      });
      await deps.discard(id);
    },
    /**
     * Removes a project whose runs are gone, whether or not their branches were merged. Idempotent.
     * @param actor as in the audit log.
     */
    async erase(id: string, actor: string): Promise<void> {
      store.write(() => {
        const row = rows.find(id);
        if (!row) return;
        rows.remove(row);
        access.forget(id);
        audit({ action: "project.deleted", actor, subject: id });
      });
      await deps.discard(id);
    },
    /** Continues unfinished clones and removes folders of projects that no longer exist. */
    async recover(): Promise<void> {
      const known = new Set(rows.ids());
      for (const name of await readdir(folder))
        if (name.startsWith("proj_") && !known.has(name)) await deps.discard(name);
      clones.resume();
    },
  };
}

/** Makes the user the project's owner. @throws Problem 409 when the account was deleted meanwhile. */
function addOwner({ store, access }: ProjectsDeps, project_id: string, user_id: string): void {
  if (store.statement("SELECT 1 FROM users WHERE id = ?").get(user_id) === undefined)
    throw conflict("The account that makes the project was deleted meanwhile.", "account_deleted");
  access.put({ project_id, user_id, role: "owner", added_by: user_id });
}

/**
 * @param counts number of the project's tasks by status.
 * @throws Problem 409 when tasks are in a status that the new board lacks.
 */
function assertRoom(columns: BoardColumn[] | null, counts: Record<string, number> = {}): void {
  const statuses = new Set((columns ?? DEFAULT_COLUMNS).flatMap((column) => column.statuses));
  const left = Object.entries(counts).find(([status]) => !statuses.has(status));
  if (left)
    throw conflict(`Tasks in the status ${left[0]}: ${left[1]}. Move them first, or keep the status on the board.`);
}

/** @param source address of the repository; null when there is none. */
const newRow = (input: NewProject, source: string | null, at: string): ProjectRow => ({
  id: newId("project"),
  name: input.name,
  description: input.description ?? "",
  repository: source,
  default_branch: input.default_branch ?? null,
  default_pipeline_id: input.default_pipeline_id ?? null,
  check: input.check ?? null,
  status: "active",
  vision: input.vision ?? null,
  outside: input.outside ?? null,
  columns: input.columns === undefined ? null : boardOf(input.columns),
  workspace_state: source === null ? "none" : "cloning",
  workspace_error: null,
  workspace_head: null,
  scip_path: input.scip_path ?? null,
  fetch_before_run: input.fetch_before_run ?? "try",
  fetched_at: null,
  created_at: at,
  updated_at: at,
});

const notMerged = (branches: readonly string[]) =>
  conflict(
    `${branches.length} branches of it are not merged: ${branches.slice(0, 5).join(", ")}${branches.length > 5 ? " …" : ""}. Merge them, or delete with force.`,
    "unmerged_branches",
    { branches: branches.slice(0, 100), count: branches.length },
  );

/**
 * The row's changes for a new repository.
 * @throws Problem 409 when another repository is already cloned or being cloned.
 */
function newRepository(row: ProjectRow, source: string | null | undefined): Partial<ProjectRow> {
  if (source === undefined || source === row.repository) return {};
  if (row.workspace_state === "ready" || row.workspace_state === "cloning")
    throw conflict("The workspace holds another repository. Create a new project for this one.", "workspace_taken");
  const state = source === null ? "none" : "cloning";
  return { repository: source, workspace_state: state, workspace_error: null, workspace_head: null };
}

/** @throws Problem 422 for a name that git could interpret as something else. */
function assertBranch(branch: string | null | undefined): void {
  if (branch && !isBranchName(branch)) throw invalidField("/default_branch", "This is not a usable branch name");
}

function assertPipeline(id: string | null | undefined, exists: (id: string) => boolean): void {
  if (id && !exists(id)) throw invalidField("/default_pipeline_id", "There is no such pipeline");
}
