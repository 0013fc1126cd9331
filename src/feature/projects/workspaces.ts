/**
 * Where runs and sessions work: in a git worktree on a branch of their own, or in an empty folder if they have no
 * project. Steps of a run that run side by side share it, and so do a session and the sessions that it hands work to.
 * Changes of the repository happen one after another.
 */

import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Committed } from "../../adapter/git.ts";
import { removeFolder } from "../../working-copy/folder.ts";
import { workspaceChanged } from "./events.ts";
import type { Turns } from "./turns.ts";
import { AUTHOR } from "./upstream.ts";
import { BRANCH_PREFIXES, isWorkId, type WorkRow } from "./works.ts";
import { createWorkspacePlaces, refsOf, type WorkOfProject } from "./workspace-places.ts";
import { createWorktreeStart, type WorktreeStartDeps } from "./worktree-start.ts";

interface Workspace {
  /** Absolute path of the workspace, ready for use. */
  path: string;
  /** The branch; null without a project. */
  branch: string | null;
}

export type Workspaces = ReturnType<typeof createWorkspaces>;

interface WorkspacesDeps extends Omit<WorktreeStartDeps, "places">, Pick<Turns, "alone"> {
  /** Folder that holds one folder per run and per session. */
  workspaces: string;
}

/** A clone with more loose objects than this is packed, as git itself would do. */
const LOOSE_OBJECTS = 6_700;
/** Most paths that a log line and an event name. */
const MAX_NAMED = 100;
const NOTHING: Committed = { commit: null, skipped: [] };

export function createWorkspaces(deps: WorkspacesDeps) {
  const { store, log, masking, rows, works, git, inTurn } = deps;
  const places = createWorkspacePlaces(deps);
  const { pathOf, repositoryOf, worktreeOf, tipOf } = places;
  const start = createWorktreeStart({ ...deps, places });
  const worktreesOf = async (projectId: string): Promise<string[]> => {
    const names = await readdir(join(repositoryOf(projectId), "worktrees")).catch(() => []);
    return names.filter(isWorkId);
  };
  /** Removes a session's branch that holds no changes of its own. Call it inside a turn, after its worktree is gone. */
  async function dropEmptyBranch({ id }: WorkOfProject, projectId: string): Promise<void> {
    const work = works.find(id);
    // The work may have been sent back while this waited for its turn.
    if (!work?.branch || work.kind === "run" || works.isNeeded(id)) return;
    const tip = await tipOf(projectId, work.branch);
    if (tip !== null && isEmpty(work, tip)) await git.removeBranch(repositoryOf(projectId), work.branch, tip);
  }
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
        // Changes that were merged before must not be shown as changes again.
        const known = works.find(work.id);
        if (known && known.kind !== "run" && known.merged_head === before)
          works.update(work.id, { base_commit: before });
        const data = { cause: "commit" as const, commit: done.commit, branch, skipped };
        emit(workspaceChanged, { ...refsOf(work), data });
      });
    return done;
  };
  /**
   * Makes the workspace, or finds it as it was left. After `release`, it starts from its branch again.
   * @throws Problem 503 `workspace_busy` while the project is being cloned, 409 `workspace_failed`, 404.
   */
  async function prepare(work: WorkOfProject, signal?: AbortSignal): Promise<Workspace> {
    const path = pathOf(work);
    const { project_id } = work;
    const branch = project_id ? works.branchOf(work.id) : null;
    if (project_id && branch !== null) await start.makeWorktree(work, { project_id, branch }, signal);
    else await mkdir(path, { recursive: true, mode: 0o755 });
    return { path, branch };
  }
  return {
    prepare,
    /** Commits the changes to the work's branch. Does nothing without a working copy. */
    async commit(work: WorkOfProject, message: string): Promise<Committed> {
      const { project_id } = work;
      return project_id ? inTurn(project_id, () => commit(work, project_id, message)) : NOTHING;
    },
    /**
     * Removes the worktree. The branch stays, unless it belongs to a session that changed nothing or whose changes
     * another branch has taken in. A folder without a project holds results and stays. Idempotent.
     */
    async release(work: WorkOfProject): Promise<void> {
      const { project_id } = work;
      if (!project_id) return;
      await inTurn(project_id, async () => {
        // Keeps changes that were made to a chat's files after its last reply.
        if (works.find(work.id)?.kind === "chat") await commit(work, project_id, "Kept at the end");
        await git.removeWorktree(worktreeOf(work, project_id));
        if (rows.find(project_id)?.workspace_state === "ready") await dropEmptyBranch(work, project_id);
      });
    },
    /**
     * Gives a session that has not begun the branch and working copy of another one, in their present state. The caller
     * copies what no commit holds.
     * @returns false when the other session has not begun either.
     */
    async fork(from: WorkOfProject, to: WorkOfProject, signal?: AbortSignal): Promise<boolean> {
      const { project_id } = from;
      const [source, target] = [works.branchOf(from.id), works.branchOf(to.id)];
      if (!project_id || source === null || target === null) return false;
      const hasBegun = await inTurn(project_id, async () => {
        await start.assertReady(project_id);
        await commit(from, project_id, "Kept for a fork");
        const tip = await tipOf(project_id, source);
        if (tip === null) return false;
        if ((await tipOf(project_id, target)) === null) {
          await git.setBranch(repositoryOf(project_id), target, tip, null);
          start.noteStart(to, works.find(from.id)?.base_commit ?? null, null);
        }
        return true;
      });
      if (hasBegun) await prepare(to, signal);
      return hasBegun;
    },
    /** The runs and sessions that have a worktree on disk. */
    async present(): Promise<{ id: string; project_id: string }[]> {
      const all = rows
        .ids()
        .map(async (project_id) => (await worktreesOf(project_id)).map((id) => ({ id, project_id })));
      return (await Promise.all(all)).flat();
    },
    /**
     * Removes everything that a deleted run or session has on disk: its folder, its branch, its marks. Objects stay
     * until `repack`. Idempotent.
     */
    async erase(work: WorkOfProject): Promise<void> {
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
    /** Packs a project's clone and removes unreferenced objects. The project's runs wait meanwhile. */
    repack: (projectId: string, signal?: AbortSignal) =>
      deps.alone(projectId, async () => {
        if (rows.find(projectId)?.workspace_state !== "ready") return;
        await git.packAndPrune(repositoryOf(projectId), signal);
      }),
    /** Projects whose clone has many objects that are not packed. */
    async listUnpacked(): Promise<string[]> {
      const found: string[] = [];
      for (const id of rows.ids()) if ((await git.looseObjects(repositoryOf(id))) > LOOSE_OBJECTS) found.push(id);
      return found;
    },
    /** Removes every worktree of a project. */
    async releaseAll(projectId: string): Promise<void> {
      await inTurn(projectId, async () => {
        for (const id of await worktreesOf(projectId)) await git.removeWorktree(worktreeOf({ id }, projectId));
      });
    },
  };
}

/** Whether nothing was committed on the branch, or everything on it is in the branch that it was a part of. */
const isEmpty = ({ base_commit, merged_head, joins }: WorkRow, tip: string): boolean =>
  joins === null ? merged_head === null && tip === base_commit : tip === base_commit || tip === merged_head;
