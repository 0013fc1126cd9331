/** The branches of runs and sessions: their changes, merging them into other branches, and pushing. */
import type { Branch, ChangedPart, Hunk, Wanted } from "../../adapter/git.ts";
import { conflict, isProblem, notFound, Problem } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import { placeOf } from "./clones.ts";
import { createMerges, type Merged, type MergeRequest, type MergesDeps, markOf, type WorkBranch } from "./merges.ts";
import { type RemoteDeps, withRemote } from "./remote.ts";
import type { ProjectStore } from "./store.ts";
import type { UpdatesDeps } from "./updates.ts";
import { BRANCH_PREFIXES, type WorkRow, workOfBranch } from "./works.ts";

interface BranchDiff {
  branch: string;
  base: string;
  head: string;
  /** The wanted paths, and counts of all. */
  changed: ChangedPart;
}

export type WorkBranches = ReturnType<typeof createWorkBranches>;

interface WorkBranchesDeps
  extends RemoteDeps,
    Pick<MergesDeps, "store" | "git" | "works" | "settle">,
    Pick<UpdatesDeps, "folder" | "inTurn" | "masking"> {
  rows: ProjectStore;
}

const PUSH_TIMEOUT_MS = 120_000;

export function createWorkBranches(deps: WorkBranchesDeps) {
  const { git, rows, works, inTurn, folder } = deps;
  const repositoryOf = (projectId: string): string => {
    if (!rows.find(projectId)) throw notFound("project");
    return placeOf(folder, projectId).repository;
  };
  const nameOf = (id: string): string => {
    const branch = works.branchOf(id);
    if (branch === null) throw notFound("branch");
    return branch;
  };
  /**
   * The newest commit of the work's branch. If the branch is gone, that is the merged commit; a session whose branch is
   * gone without a merge changed nothing, so it is its beginning.
   */
  async function tipOf(repository: string, { id, merged_head, base_commit }: WorkBranch): Promise<string> {
    const branch = await git.commitOf(repository, `refs/heads/${nameOf(id)}`);
    const last = merged_head ?? (isId("session", id) ? base_commit : null);
    const tip = branch ?? (last && (await git.commitOf(repository, last)));
    if (tip === null) throw notFound("branch of this work");
    return tip;
  }
  async function rangeOf(work: WorkBranch) {
    const repository = repositoryOf(work.project_id);
    const head = await tipOf(repository, work);
    const base = work.base_commit ?? (await git.mergeBase(repository, "HEAD", head)) ?? head;
    return { repository, base, head, range: { from: base, to: head } };
  }
  const { merge, join } = createMerges({ ...deps, repositoryOf, rangeOf });
  const rowOf = (branch: string): WorkRow | undefined => works.find(workOfBranch(branch) ?? "");
  /**
   * Whether the branch's work ended before that time and this commit of it was merged.
   * @param before ms since the epoch.
   */
  const isDone = (branch: string, commit: string, before: number): boolean => {
    const work = rowOf(branch);
    return work?.merged_head === commit && work.ended_at !== null && Date.parse(work.ended_at) < before;
  };
  /** Branches that were made for runs and sessions of this server. */
  const ofWork = async (look: (prefix: string) => Promise<Branch[]>): Promise<Branch[]> =>
    (await Promise.all(BRANCH_PREFIXES.map(look))).flat().filter(({ branch }) => workOfBranch(branch) !== undefined);
  return {
    /** @throws Problem 404 for work that has not begun. */
    async diff(work: WorkBranch, wanted: Wanted): Promise<BranchDiff> {
      const { repository, base, head, range } = await rangeOf(work);
      const changed = await git.changedPaths(repository, range, wanted);
      return { branch: nameOf(work.id), base, head, changed };
    },
    hunks: (
      work: WorkBranch,
      { base, head }: Pick<BranchDiff, "base" | "head">,
      path: string,
    ): Promise<{ hunks: Hunk[]; cut: boolean }> =>
      git.hunks(repositoryOf(work.project_id), { from: base, to: head }, path),
    async patch(work: WorkBranch, maxBytes: number): Promise<{ patch: string; cut: boolean }> {
      const { repository, range } = await rangeOf(work);
      return git.patch(repository, range, { maxBytes });
    },
    /**
     * Merges work into a branch. It may be repeated after a crash, because a finished merge is recognized. Call
     * `forgetMerge` once the result is stored.
     * @throws Problem 409 `nothing_to_merge`, `removed_commits`, 422 for an invalid target.
     */
    merge: (work: WorkBranch, request: MergeRequest): Promise<Merged> =>
      inTurn(work.project_id, () => merge(work, request)),
    forgetMerge: (work: WorkBranch, merged: Merged) =>
      inTurn(work.project_id, () => git.forgetMerge(repositoryOf(work.project_id), markOf(work, merged))),
    /**
     * Merges work into the branch of the session that it is a part of, if there is one and something changed. May be
     * repeated.
     * @throws Problem 409 `merge_conflict` with `files`.
     */
    async join(id: string, message: string, signal?: AbortSignal): Promise<void> {
      const work = works.find(id);
      const into = work?.joins ? works.branchOf(work.joins) : null;
      if (!work?.project_id || into === null) return;
      const { project_id } = work;
      await inTurn(project_id, () => join({ ...works.find(id)!, project_id }, into, message, signal));
    },
    /** Branches whose newest work was never merged. */
    async listUnmerged(projectId: string): Promise<string[]> {
      const left = await ofWork((prefix) => git.listUnmerged(repositoryOf(projectId), prefix));
      const isTaken = ({ branch, commit }: Branch) => rowOf(branch)?.merged_head === commit;
      return left.filter((one) => !isTaken(one)).map(({ branch }) => branch);
    },
    /** Deletes branches of work that was merged and has ended before that time, ms since the epoch. */
    async sweepMerged(before: number): Promise<void> {
      for (const projectId of rows.ids()) {
        const { repository } = placeOf(folder, projectId);
        const isReady = () => rows.find(projectId)?.workspace_state === "ready";
        const found = await inTurn(projectId, async () =>
          isReady() ? await ofWork((prefix) => git.branches(repository, prefix)) : [],
        );
        for (const { branch, commit } of found)
          if (isDone(branch, commit, before))
            await inTurn(projectId, async () => {
              // The work may have been restarted, or the project deleted, while this waited for its turn.
              if (isReady() && isDone(branch, commit, before)) await git.removeBranch(repository, branch, commit);
            });
      }
    },
    /** @throws Problem 409 `no_repository`, `push_rejected`, `push_refused`, `target_checked_out`; 502. */
    async push(projectId: string, branch: string): Promise<void> {
      await inTurn(projectId, async () => {
        const repository = repositoryOf(projectId);
        const source = rows.find(projectId)?.repository;
        if (!source) throw conflict("The project has no repository to push to.", "no_repository");
        const timeoutMs = PUSH_TIMEOUT_MS;
        await withRemote(deps, source, (remote) => git.push(branch, { ...remote, repository, timeoutMs })).catch(
          (error: unknown) => {
            if (!isProblem(error)) throw error;
            // The host's message may contain a credential that is known here.
            throw new Problem(error.status, error.code, deps.masking.text(error.detail), error.extras);
          },
        );
        // Records that the remote has this commit. If a later fetch lacks it, the history was rewritten (updates.ts).
        const pushed = await git.commitOf(repository, `refs/heads/${branch}`);
        if (pushed !== null && workOfBranch(branch) === undefined)
          await git.setMark(repository, `upstream/${branch}`, pushed);
      });
    },
  };
}
