/**
 * Where runs work: a git worktree on the branch `run/<id>` of the project's repository, or an empty folder. Steps of a
 * run that work side by side share it; what touches the repository is done one after another.
 */

import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import type { Committed, Git, WorktreePlace } from "../../adapter/git.ts";
import { conflict, notFound, unavailable } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import type { Logger } from "../../core/log.ts";
import type { Masking } from "../../core/masking.ts";
import type { Store } from "../../store/store.ts";
import { runs } from "../../store/tables/runs.ts";
import { removeFolder } from "../../working-copy/folder.ts";
import { activity } from "../events/events.ts";
import { placeOf } from "./clones.ts";
import { workspaceChanged } from "./events.ts";
import { type FetchedLfs, type Lfs, NO_LFS } from "./lfs.ts";
import type { ProjectRow, ProjectStore } from "./store.ts";
import type { FetchedSubmodules, MissingSubmodule, Submodules } from "./submodules.ts";
import type { Turns } from "./turns.ts";

export interface RunOfProject {
  id: string;
  project_id?: string | null | undefined;
  /** The run's owner, who alone sees the messages of its commits. */
  user_id?: string | undefined;
}

export interface RunWorkspace {
  /** Absolute path, ready to work in. */
  path: string;
  /** Null without a project. */
  branch: string | null;
}

export interface RunWorkspaces {
  /**
   * Makes the run's workspace, or finds it as it was left; after `release` it starts from its branch again.
   * @throws Problem 503 `workspace_busy` while the project is being cloned, 409 `workspace_failed`, 404.
   */
  prepare(run: RunOfProject, signal?: AbortSignal): Promise<RunWorkspace>;
  /** Keeps what changed as a commit on the run's branch. Nothing to do without a project. */
  commitStep(run: RunOfProject, message: string): Promise<Committed>;
  /** Removes the worktree; the branch stays. A run's folder without a project holds its results and stays. Idempotent. */
  release(run: RunOfProject): Promise<void>;
  /** The runs that have a worktree on disk. */
  present(): Promise<{ id: string; project_id: string }[]>;
  /** Removes every worktree of a project. */
  releaseAll(projectId: string): Promise<void>;
  /** Removes all that a deleted run has on disk: its folder, its branch, its marks. Objects stay until `repack`. Idempotent. */
  erase(run: RunOfProject): Promise<void>;
  /** Packs a project's clone and removes the objects that nothing refers to. Its runs wait meanwhile. */
  repack(projectId: string, signal?: AbortSignal): Promise<void>;
  /** Projects whose clone has many objects that are not packed. */
  unpacked(): Promise<string[]>;
}

export interface RunWorkspacesDeps extends Pick<Turns, "inTurn" | "fetching" | "alone"> {
  store: Store;
  log: Logger;
  masking: Pick<Masking, "json">;
  rows: ProjectStore;
  git: Git;
  submodules: Submodules;
  lfs: Lfs;
  /** Brings the project's clone up to date before a run that begins. @returns why that failed, null when it did not. */
  refresh(projectId: string, signal: AbortSignal | undefined): Promise<string | null>;
  /** Commits of its branch that an agent's git can read; 0: agents have no git. */
  gitDepth(): number;
  /** Folder that holds one folder per run. */
  workspaces: string;
  /** Folder that holds one folder per project. */
  projects: string;
}

/** A clone with more of them is packed, as git itself would do it. */
const LOOSE_OBJECTS = 6_700;
/** Paths that a log line and an event name. */
const MAX_NAMED = 100;
const NAMED_MODULES = 5;
const AUTHOR = { name: "Skep", email: "skep@localhost" };
const NOTHING: Committed = { commit: null, skipped: [] };
export const branchOf = (runId: string): string => `run/${runId}`;

export function createRunWorkspaces(deps: RunWorkspacesDeps): RunWorkspaces {
  const { store, log, masking, rows, git, inTurn, workspaces, projects } = deps;
  const pathOf = ({ id }: RunOfProject): string => {
    if (!isId("run", id)) throw notFound("run");
    return join(workspaces, id);
  };
  const worktreeOf = (run: RunOfProject, projectId: string): WorktreePlace => ({
    repository: placeOf(projects, projectId).repository,
    name: run.id,
    path: pathOf(run),
  });
  const worktreesOf = async (projectId: string): Promise<string[]> => {
    const names = await readdir(join(placeOf(projects, projectId).repository, "worktrees")).catch(() => []);
    return names.filter((name) => isId("run", name));
  };
  const ready = async (projectId: string): Promise<ProjectRow> => {
    const row = rows.find(projectId);
    if (!row) throw notFound("project");
    if (row.workspace_state === "cloning") throw unavailable("workspace_busy", "The project is still being cloned.");
    if (row.workspace_state === "failed")
      throw conflict(`The project could not be cloned: ${row.workspace_error}`, "workspace_failed");
    if (row.workspace_state === "none") await initialise(row);
    return row;
  };
  const initialise = async ({ id, default_branch }: ProjectRow): Promise<void> => {
    const place = placeOf(projects, id);
    await git.init({ ...place, branch: default_branch ?? "main" });
    const { commit, branch } = await git.head(place.repository);
    // It may have got a repository to clone meanwhile: the clone replaces this one.
    if (rows.find(id)?.workspace_state !== "none")
      throw unavailable("workspace_busy", "The project is still being cloned.");
    rows.update(id, { workspace_state: "ready", workspace_head: commit, default_branch: branch }, "workspace");
  };
  /** Stores the commit that the run's diff is taken against, and why that may be old. */
  const noteStart = ({ id, project_id, user_id }: RunOfProject, base_commit: string | null, notice: string | null) =>
    store.write(({ emit }) => {
      store.db.update(runs).set({ base_commit, workspace_notice: notice }).where(eq(runs.id, id)).run();
      if (notice === null) return;
      const refs = { run_id: id, project_id: project_id ?? undefined, user_id };
      emit(activity, { ...refs, data: { title: notice } });
    });
  /** What the repository refers to and the working copy does not have. */
  const missingOf = (modules: readonly MissingSubmodule[], lfs: FetchedLfs): string => {
    const named = (missing: readonly MissingSubmodule[]): string => {
      const shown = missing.slice(0, NAMED_MODULES).map(({ path, why }) => `${path.slice(0, 100)} (${why})`);
      const more = missing.length > NAMED_MODULES ? ` and ${missing.length - NAMED_MODULES} more` : "";
      return `${masking.json(shown).join(", ")}${more}.`;
    };
    return [
      ...(modules.length > 0 ? [`Submodules that were not fetched, their folders are empty: ${named(modules)}`] : []),
      ...(lfs.missing.length > 0
        ? [`Files in Git LFS that were not fetched, the working copy holds their pointers: ${named(lfs.missing)}`]
        : []),
    ].join(" ");
  };
  const baseOf = (runId: string): string | null =>
    store.db.select({ at: runs.base_commit }).from(runs).where(eq(runs.id, runId)).get()?.at ?? null;
  /**
   * The submodules for a working copy that will be made. Those of the commit where the run began: what an agent wrote
   * into `.gitmodules` since then is not followed.
   */
  const fetchModules = async (worktree: WorktreePlace, row: ProjectRow, base: string | null, signal?: AbortSignal) => {
    const none: FetchedSubmodules = { fetched: [], missing: [] };
    if (base === null || git.hasWorktree(worktree)) return none;
    return deps.fetching(row.id, () => deps.submodules.fetch(row, base, signal));
  };
  /** The files in Git LFS of the commit where the run began, for a working copy that will be made. */
  const fetchLfs = async (worktree: WorktreePlace, row: ProjectRow, base: string | null, signal?: AbortSignal) => {
    if (base === null || git.hasWorktree(worktree)) return NO_LFS;
    return deps.fetching(row.id, () => deps.lfs.fetch(row, base, signal));
  };
  /** Agents work without git rather than not at all. */
  const giveGit = async (run: RunOfProject, projectId: string, branch: string, signal: AbortSignal | undefined) => {
    const depth = deps.gitDepth();
    if (depth === 0) return;
    try {
      await git.giveRepository({ ...worktreeOf(run, projectId), branch, depth, base: baseOf(run.id), signal });
    } catch (err) {
      if (signal?.aborted) throw err;
      log.warn({ err, run: run.id }, "the agents of a run have no git");
    }
  };
  return {
    async prepare(run, signal) {
      const path = pathOf(run);
      const { project_id } = run;
      if (!project_id) {
        await mkdir(path, { recursive: true, mode: 0o755 });
        return { path, branch: null };
      }
      const branch = branchOf(run.id);
      const { repository } = placeOf(projects, project_id);
      const begins = await inTurn(project_id, async () => {
        await ready(project_id);
        return (await git.commitOf(repository, `refs/heads/${branch}`)) === null;
      });
      const notice = begins ? await deps.refresh(project_id, signal) : null;
      const worktree = worktreeOf(run, project_id);
      const { base, row } = await inTurn(project_id, async () => ({
        row: await ready(project_id),
        base: begins ? (await git.head(repository)).commit : baseOf(run.id),
      }));
      const modules = await fetchModules(worktree, row, base, signal);
      const lfs = await fetchLfs(worktree, row, base, signal);
      return inTurn(project_id, async () => {
        await ready(project_id);
        const missing = [...modules.missing];
        const complete = async () => {
          missing.push(...(await deps.submodules.place(worktree.path, modules, signal)));
          if (lfs.pointers.length > 0) await git.placeLfs(worktree, lfs.pointers, lfs.pathOf);
        };
        await git.addWorktree({ ...worktree, branch, from: (begins && base) || "HEAD", complete, signal });
        if (begins) {
          const lacks = missingOf(missing, lfs);
          noteStart(run, base, [notice, lacks].filter(Boolean).join(" ") || null);
        }
        await giveGit(run, project_id, branch, signal);
        return { path, branch };
      });
    },
    async commitStep(run, message) {
      const { project_id } = run;
      if (!project_id) return NOTHING;
      return inTurn(project_id, async () => {
        if (!rows.find(project_id)) return NOTHING;
        const done = await git.commitAll(worktreeOf(run, project_id), { message, author: AUTHOR });
        const skipped = masking.json(done.skipped.slice(0, MAX_NAMED));
        if (skipped.length > 0) log.warn({ run: run.id, skipped, count: done.skipped.length }, "left out of a commit");
        if (done.commit !== null)
          store.write(({ emit }) => {
            const { commit } = done;
            const data = { cause: "commit" as const, commit, branch: branchOf(run.id), skipped };
            emit(workspaceChanged, { project_id, run_id: run.id, user_id: run.user_id, data });
          });
        return done;
      });
    },
    async release(run) {
      const { project_id } = run;
      if (project_id) await inTurn(project_id, () => git.removeWorktree(worktreeOf(run, project_id)));
    },
    async present() {
      const all = rows
        .ids()
        .map(async (project_id) => (await worktreesOf(project_id)).map((id) => ({ id, project_id })));
      return (await Promise.all(all)).flat();
    },
    async erase(run) {
      const { project_id } = run;
      if (!project_id || !rows.find(project_id)) return removeFolder(pathOf(run));
      await inTurn(project_id, async () => {
        await git.removeWorktree(worktreeOf(run, project_id));
        const { repository } = placeOf(projects, project_id);
        if (!existsSync(repository)) return;
        await git.removeRefs(repository, [`refs/heads/${branchOf(run.id)}`, `refs/skep/merge/${run.id}`]);
      });
    },
    repack: (projectId, signal) =>
      deps.alone(projectId, async () => {
        if (rows.find(projectId)?.workspace_state !== "ready") return;
        await git.packAndPrune(placeOf(projects, projectId).repository, signal);
      }),
    async unpacked() {
      const found: string[] = [];
      for (const id of rows.ids())
        if ((await git.looseObjects(placeOf(projects, id).repository)) > LOOSE_OBJECTS) found.push(id);
      return found;
    },
    async releaseAll(projectId) {
      await inTurn(projectId, async () => {
        for (const id of await worktreesOf(projectId)) await git.removeWorktree(worktreeOf({ id }, projectId));
      });
    },
  };
}
