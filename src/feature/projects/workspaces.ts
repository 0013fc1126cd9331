/**
 * Where runs and sessions work: a git worktree on a branch of their own of the project's repository, or an empty folder.
 * Steps of a run that work side by side share it, and so do a session and what it hands on; what touches the repository is
 * done one after another.
 */

import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Committed, Git, WorktreePlace } from "../../adapter/git.ts";
import { conflict, notFound, unavailable } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import type { Logger } from "../../core/log.ts";
import type { Masking } from "../../core/masking.ts";
import type { Store } from "../../store/store.ts";
import { removeFolder } from "../../working-copy/folder.ts";
import { activity } from "../events/events.ts";
import { placeOf } from "./clones.ts";
import { workspaceChanged } from "./events.ts";
import { type FetchedLfs, type Lfs, NO_LFS } from "./lfs.ts";
import type { ProjectRow, ProjectStore } from "./store.ts";
import type { FetchedSubmodules, MissingSubmodule, Submodules } from "./submodules.ts";
import type { Turns } from "./turns.ts";
import { BRANCH_PREFIXES, isWorkId, type WorkRow, type Works } from "./works.ts";

export interface WorkOfProject {
  /** Of the run, or of the session whose working copy it is. */
  id: string;
  project_id?: string | null | undefined;
  /** Its owner, who alone sees the messages of its commits. */
  user_id?: string | undefined;
}

export interface Workspace {
  /** Absolute path, ready to work in. */
  path: string;
  /** Null without a project. */
  branch: string | null;
}

export interface Workspaces {
  /**
   * Makes the workspace, or finds it as it was left; after `release` it starts from its branch again.
   * @throws Problem 503 `workspace_busy` while the project is being cloned, 409 `workspace_failed`, 404.
   */
  prepare(work: WorkOfProject, signal?: AbortSignal): Promise<Workspace>;
  /** Keeps what changed as a commit on its branch. Nothing to do without a working copy. */
  commit(work: WorkOfProject, message: string): Promise<Committed>;
  /**
   * Removes the worktree. The branch stays, unless it is a session's that changed nothing, or that another branch has taken
   * in. A folder without a project holds results and stays. Idempotent.
   */
  release(work: WorkOfProject): Promise<void>;
  /**
   * Gives a session that has not begun a branch and a working copy that are as those of another one are now; what no commit
   * holds is for the caller to copy. @returns false where the other has not begun either.
   */
  fork(from: WorkOfProject, to: WorkOfProject, signal?: AbortSignal): Promise<boolean>;
  /** The runs and sessions that have a worktree on disk. */
  present(): Promise<{ id: string; project_id: string }[]>;
  /** Removes every worktree of a project. */
  releaseAll(projectId: string): Promise<void>;
  /** Removes all that a deleted run or session has on disk: its folder, its branch, its marks. Objects stay until `repack`. Idempotent. */
  erase(work: WorkOfProject): Promise<void>;
  /** Packs a project's clone and removes the objects that nothing refers to. Its runs wait meanwhile. */
  repack(projectId: string, signal?: AbortSignal): Promise<void>;
  /** Projects whose clone has many objects that are not packed. */
  unpacked(): Promise<string[]>;
}

export interface WorkspacesDeps extends Pick<Turns, "inTurn" | "fetching" | "alone"> {
  store: Store;
  log: Logger;
  masking: Pick<Masking, "json">;
  rows: ProjectStore;
  works: Works;
  git: Git;
  submodules: Submodules;
  lfs: Lfs;
  /** Brings the project's clone up to date before work that begins. @returns why that failed, null when it did not. */
  refresh(projectId: string, signal: AbortSignal | undefined): Promise<string | null>;
  /** Commits of its branch that an agent's git can read; 0: agents have no git. */
  gitDepth(): number;
  /** Folder that holds one folder per run and per session. */
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

export function createWorkspaces(deps: WorkspacesDeps): Workspaces {
  const { store, log, masking, rows, works, git, inTurn, workspaces, projects } = deps;
  const pathOf = ({ id }: WorkOfProject): string => {
    if (!isWorkId(id)) throw notFound("run or session");
    return join(workspaces, id);
  };
  const repositoryOf = (projectId: string): string => placeOf(projects, projectId).repository;
  const worktreeOf = (work: WorkOfProject, projectId: string): WorktreePlace => ({
    repository: repositoryOf(projectId),
    name: work.id,
    path: pathOf(work),
  });
  const tipOf = (projectId: string, branch: string) => git.commitOf(repositoryOf(projectId), `refs/heads/${branch}`);
  const worktreesOf = async (projectId: string): Promise<string[]> => {
    const names = await readdir(join(placeOf(projects, projectId).repository, "worktrees")).catch(() => []);
    return names.filter(isWorkId);
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
  /** Stores the commit that the diff is taken against, and why that may be old. */
  const noteStart = (work: WorkOfProject, base_commit: string | null, notice: string | null) =>
    store.write(({ emit }) => {
      works.update(work.id, { base_commit, workspace_notice: notice });
      if (notice !== null) emit(activity, { ...refsOf(work), data: { title: notice } });
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
  const baseOf = (id: string): string | null => works.find(id)?.base_commit ?? null;
  /** Where a branch begins that another one is to take in: at that one, which is made where nothing has begun on it. */
  async function beginAt(joins: string, projectId: string, signal: AbortSignal | undefined): Promise<string> {
    const whole = works.find(joins);
    if (!whole?.branch) throw notFound("session that this work is a part of");
    const { branch } = whole;
    const notice = (await tipOf(projectId, branch)) === null ? await deps.refresh(projectId, signal) : null;
    return inTurn(projectId, async () => {
      await ready(projectId);
      const tip = await tipOf(projectId, branch);
      if (tip !== null) return tip;
      const { commit } = await git.head(repositoryOf(projectId));
      if (commit === null) throw conflict("The project's repository has no commit.", "workspace_failed");
      await git.setBranch(repositoryOf(projectId), branch, commit, null);
      noteStart({ id: joins, project_id: projectId, user_id: whole.user_id ?? undefined }, commit, notice);
      return commit;
    });
  }
  /** Where a branch begins: at its project's head, but a run may be told where. */
  const beginningOf = async (id: string, projectId: string): Promise<string | null> =>
    (isId("run", id) ? baseOf(id) : null) ?? (await git.head(repositoryOf(projectId))).commit;
  /** A session's branch that holds nothing of its own is of no use. Inside a turn, after its worktree is gone. */
  async function dropEmptyBranch({ id }: WorkOfProject, projectId: string): Promise<void> {
    const work = works.find(id);
    // It may have been sent back while this waited for its turn.
    if (!work?.branch || work.kind === "run" || works.isNeeded(id)) return;
    const tip = await tipOf(projectId, work.branch);
    if (tip !== null && isEmpty(work, tip)) await git.removeBranch(repositoryOf(projectId), work.branch, tip);
  }
  /**
   * The submodules for a working copy that will be made. Those of the commit where the work began: what an agent wrote
   * into `.gitmodules` since then is not followed.
   */
  const fetchModules = async (worktree: WorktreePlace, row: ProjectRow, base: string | null, signal?: AbortSignal) => {
    const none: FetchedSubmodules = { fetched: [], missing: [] };
    if (base === null || git.hasWorktree(worktree)) return none;
    return deps.fetching(row.id, () => deps.submodules.fetch(row, base, signal));
  };
  /** The files in Git LFS of the commit where the work began, for a working copy that will be made. */
  const fetchLfs = async (worktree: WorktreePlace, row: ProjectRow, base: string | null, signal?: AbortSignal) => {
    if (base === null || git.hasWorktree(worktree)) return NO_LFS;
    return deps.fetching(row.id, () => deps.lfs.fetch(row, base, signal));
  };
  /** Agents work without git rather than not at all. */
  const giveGit = async (work: WorkOfProject, projectId: string, branch: string, signal: AbortSignal | undefined) => {
    const depth = deps.gitDepth();
    if (depth === 0) return;
    try {
      await git.giveRepository({ ...worktreeOf(work, projectId), branch, depth, base: baseOf(work.id), signal });
    } catch (err) {
      if (signal?.aborted) throw err;
      log.warn({ err, work: work.id }, "the agents of a run or session have no git");
    }
  };
  const commit = async (work: WorkOfProject, projectId: string, message: string): Promise<Committed> => {
    const branch = works.branchOf(work.id);
    const worktree = worktreeOf(work, projectId);
    if (branch === null || !rows.find(projectId) || !git.hasWorktree(worktree)) return NOTHING;
    const before = await tipOf(projectId, branch);
    const done = await git.commitAll(worktree, { message, author: AUTHOR });
    const skipped = masking.json(done.skipped.slice(0, MAX_NAMED));
    if (skipped.length > 0) log.warn({ work: work.id, skipped, count: done.skipped.length }, "left out of a commit");
    if (done.commit !== null)
      store.write(({ emit }) => {
        // What was merged before is not shown as a change again.
        const known = works.find(work.id);
        if (known && known.kind !== "run" && known.merged_head === before)
          works.update(work.id, { base_commit: before });
        const data = { cause: "commit" as const, commit: done.commit, branch, skipped };
        emit(workspaceChanged, { ...refsOf(work), data });
      });
    return done;
  };
  const prepare = async (work: WorkOfProject, signal?: AbortSignal): Promise<Workspace> => {
    const path = pathOf(work);
    const { project_id } = work;
    const branch = project_id ? works.branchOf(work.id) : null;
    if (!project_id || branch === null) {
      await mkdir(path, { recursive: true, mode: 0o755 });
      return { path, branch: null };
    }
    const begins = await inTurn(project_id, async () => {
      await ready(project_id);
      return (await tipOf(project_id, branch)) === null;
    });
    const joins = begins ? (works.find(work.id)?.joins ?? null) : null;
    const start = joins === null ? null : await beginAt(joins, project_id, signal);
    const notice = begins && start === null ? await deps.refresh(project_id, signal) : null;
    const worktree = worktreeOf(work, project_id);
    const { base, row } = await inTurn(project_id, async () => ({
      row: await ready(project_id),
      base: begins ? (start ?? (await beginningOf(work.id, project_id))) : baseOf(work.id),
    }));
    const modules = await fetchModules(worktree, row, base, signal);
    using lfs = await fetchLfs(worktree, row, base, signal);
    return await inTurn(project_id, async () => {
      await ready(project_id);
      const missing = [...modules.missing];
      const complete = async () => {
        missing.push(...(await deps.submodules.place(worktree.path, modules, signal)));
        if (lfs.pointers.length > 0) await git.placeLfs(worktree, lfs.pointers, lfs.pathOf);
      };
      await git.addWorktree({ ...worktree, branch, from: (begins && base) || "HEAD", complete, signal });
      if (begins) {
        const lacks = missingOf(missing, lfs);
        noteStart(work, base, [notice, lacks].filter(Boolean).join(" ") || null);
      }
      await giveGit(work, project_id, branch, signal);
      return { path, branch };
    });
  };
  return {
    prepare,
    async commit(work, message) {
      const { project_id } = work;
      return project_id ? inTurn(project_id, () => commit(work, project_id, message)) : NOTHING;
    },
    async release(work) {
      const { project_id } = work;
      if (!project_id) return;
      await inTurn(project_id, async () => {
        // What lay in a chat's files after its last reply.
        if (works.find(work.id)?.kind === "chat") await commit(work, project_id, "Kept at the end");
        await git.removeWorktree(worktreeOf(work, project_id));
        if (rows.find(project_id)?.workspace_state === "ready") await dropEmptyBranch(work, project_id);
      });
    },
    async fork(from, to, signal) {
      const { project_id } = from;
      const [source, target] = [works.branchOf(from.id), works.branchOf(to.id)];
      if (!project_id || source === null || target === null) return false;
      const hasBegun = await inTurn(project_id, async () => {
        await ready(project_id);
        await commit(from, project_id, "Kept for a fork");
        const tip = await tipOf(project_id, source);
        if (tip === null) return false;
        if ((await tipOf(project_id, target)) === null) {
          await git.setBranch(repositoryOf(project_id), target, tip, null);
          noteStart(to, baseOf(from.id), null);
        }
        return true;
      });
      if (hasBegun) await prepare(to, signal);
      return hasBegun;
    },
    async present() {
      const all = rows
        .ids()
        .map(async (project_id) => (await worktreesOf(project_id)).map((id) => ({ id, project_id })));
      return (await Promise.all(all)).flat();
    },
    async erase(work) {
      const { id, project_id } = work;
      if (project_id && rows.find(project_id))
        await inTurn(project_id, async () => {
          await git.removeWorktree(worktreeOf(work, project_id));
          const repository = repositoryOf(project_id);
          if (!existsSync(repository)) return;
          const branches = BRANCH_PREFIXES.map((prefix) => `refs/heads/${prefix}/${id}`);
          await git.removeRefs(repository, [...branches, `refs/skep/merge/${id}`]);
        });
      await removeFolder(pathOf(work));
    },
    repack: (projectId, signal) =>
      deps.alone(projectId, async () => {
        if (rows.find(projectId)?.workspace_state !== "ready") return;
        await git.packAndPrune(repositoryOf(projectId), signal);
      }),
    async unpacked() {
      const found: string[] = [];
      for (const id of rows.ids()) if ((await git.looseObjects(repositoryOf(id))) > LOOSE_OBJECTS) found.push(id);
      return found;
    },
    async releaseAll(projectId) {
      await inTurn(projectId, async () => {
        for (const id of await worktreesOf(projectId)) await git.removeWorktree(worktreeOf({ id }, projectId));
      });
    },
  };
}

/** Nothing was committed on it, or all that was is in the branch that it was a part of. */
const isEmpty = ({ base_commit, merged_head, joins }: WorkRow, tip: string): boolean =>
  joins === null ? merged_head === null && tip === base_commit : tip === base_commit || tip === merged_head;

/** Whom its events are about. */
const refsOf = ({ id, project_id, user_id }: WorkOfProject) => ({
  ...(isId("run", id) ? { run_id: id } : { session_id: id }),
  project_id: project_id ?? undefined,
  user_id,
});
