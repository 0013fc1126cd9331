/** The branches of runs and sessions: what changed on one, merging it into another, and pushing that. */
import type { Branch, ChangedPart, Head, Hunk, MergeOutcome, Wanted } from "../../adapter/git.ts";
import { conflict, invalidField, isProblem, notFound, Problem } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import type { MergeStrategy } from "../../core/merge-strategy.ts";
import { isBranchName } from "../../core/ref-name.ts";
import { placeOf } from "./clones.ts";
import { workspaceChanged } from "./events.ts";
import { type RemoteDeps, withRemote } from "./remote.ts";
import type { ProjectStore } from "./store.ts";
import type { Updates, UpdatesDeps } from "./updates.ts";
import { AUTHOR } from "./upstream.ts";
import { BRANCH_PREFIXES, type WorkRow, type Works, workOfBranch } from "./works.ts";

/**
 * `base_commit` is where it began; null: where it left the default branch. From `merged_head` changes are shown once the
 * branch is deleted.
 */
type WorkBranch = Pick<WorkRow, "id" | "base_commit" | "merged_head"> & { project_id: string };

interface BranchDiff {
  branch: string;
  base: string;
  head: string;
  /** Those that were wanted, and counts of all. */
  changed: ChangedPart;
}

interface MergeRequest {
  strategy: MergeStrategy;
  /** The project's default branch unless given. */
  into?: string | undefined;
  message: string;
  taken: Taken | null;
  /** Ends the merge while the branch has not moved. */
  signal?: AbortSignal | undefined;
  onStep?: ((percent: number) => void) | undefined;
}

/** The last merge of that work. */
interface Taken {
  head: string;
  into: string;
}

interface Merged {
  into: string;
  /** Commit of the work's branch that was merged. */
  head: string;
  /** Null when that commit was merged before: nothing was done. */
  outcome: MergeOutcome | null;
}

export interface WorkBranches {
  /** @throws Problem 404 for work that has not begun. */
  diff(work: WorkBranch, wanted: Wanted): Promise<BranchDiff>;
  hunks(
    work: WorkBranch,
    diff: Pick<BranchDiff, "base" | "head">,
    path: string,
  ): Promise<{ hunks: Hunk[]; cut: boolean }>;
  patch(work: WorkBranch, maxBytes: number): Promise<{ patch: string; cut: boolean }>;
  /**
   * May be repeated after a crash: a finished merge is found. Call `forgetMerge` once its result is stored.
   * @throws Problem 409 `nothing_to_merge`, `removed_commits`, 422 for a target that is not valid.
   */
  merge(work: WorkBranch, request: MergeRequest): Promise<Merged>;
  forgetMerge(work: WorkBranch, merged: Merged): Promise<void>;
  /**
   * Takes work into the branch that it is a part of, where there is one and something changed. May be repeated.
   * @throws Problem 409 `merge_conflict` with `files`.
   */
  join(id: string, message: string, signal?: AbortSignal): Promise<void>;
  /** Branches whose work was never merged. */
  unmerged(projectId: string): Promise<string[]>;
  /** Deletes branches of work that was merged and has ended before that time, ms since the epoch. */
  sweepMerged(before: number): Promise<void>;
  /** @throws Problem 409 `no_repository`, `push_rejected`, `push_refused`, `target_checked_out`; 502. */
  push(projectId: string, branch: string): Promise<void>;
}

interface WorkBranchesDeps extends RemoteDeps, Pick<UpdatesDeps, "store" | "git" | "folder" | "inTurn" | "masking"> {
  rows: ProjectStore;
  works: Works;
  settle: Updates["settle"];
}

const PUSH_TIMEOUT_MS = 120_000;
/** Of those in conflict. */
const NAMED_FILES = 10;

/** It may be merged again after more work, and into several branches. */
const markOf = ({ id }: Pick<WorkBranch, "id">, { into, head }: Pick<Merged, "into" | "head">): string =>
  `${id}/${head}/${into}`;

export function createWorkBranches(deps: WorkBranchesDeps): WorkBranches {
  const { store, git, rows, works, inTurn, folder } = deps;
  const repositoryOf = (projectId: string): string => {
    if (!rows.find(projectId)) throw notFound("project");
    return placeOf(folder, projectId).repository;
  };
  const nameOf = (id: string): string => {
    const branch = works.branchOf(id);
    if (branch === null) throw notFound("branch");
    return branch;
  };
  /** A branch that is gone without a merge held nothing but its beginning. */
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
  /** The branch to merge into; one that only the remote has is made here. */
  async function targetOf(repository: string, into: string | undefined, head: Head): Promise<string> {
    const target = into ?? head.branch;
    if (target === null || !isBranchName(target) || target.startsWith("run/") || workOfBranch(target))
      throw invalidField("/into", "Name a branch that belongs to no run or session");
    if (target === head.branch && head.commit !== null) return target;
    if ((await git.commitOf(repository, `refs/heads/${target}`)) !== null) return target;
    const fetched = await git.commitOf(repository, `refs/remotes/origin/${target}`);
    if (fetched === null) throw invalidField("/into", "There is no such branch; fetch the project if it is new");
    await git.setBranch(repository, target, fetched, null);
    return target;
  }
  /** Commits that were removed from the repository (updates.ts) do not come back by a run that began from them. */
  async function assertNotRemoved(repository: string, head: string, target: string): Promise<void> {
    for (const removed of await git.marks(repository, "removed")) {
      const shared = await git.mergeBase(repository, removed, head);
      if (shared === null || (await git.mergeBase(repository, shared, target)) === shared) continue;
      throw conflict(
        `The work began from commits that were removed from the repository since; merging it would bring them back. Start it again, or apply its patch by hand.`,
        "removed_commits",
        { commit: shared },
      );
    }
  }
  async function merge(work: WorkBranch, { into, taken, ...request }: MergeRequest): Promise<Merged> {
    request.signal?.throwIfAborted();
    const [{ repository, base, head }, at] = await Promise.all([
      rangeOf(work),
      git.head(repositoryOf(work.project_id)),
    ]);
    if (base === head) throw conflict("No file was changed: there is nothing to merge.", "nothing_to_merge");
    const target = await targetOf(repository, into, at);
    if (taken?.head === head && taken.into === target) return { into: target, head, outcome: null };
    await assertNotRemoved(repository, head, target);
    const mark = markOf(work, { into: target, head });
    const outcome = await git.merge({ ...request, repository, source: head, into: target, author: AUTHOR, mark });
    const moved = target === at.branch && !outcome.conflicts ? { ...at, commit: outcome.commit } : at;
    await deps.settle(work.project_id, "merge", moved);
    return { into: target, head, outcome };
  }
  const rowOf = (branch: string): WorkRow | undefined => works.find(workOfBranch(branch) ?? "");
  /** It has ended before, and this commit of it was merged. */
  const isDone = (branch: string, commit: string, before: number): boolean => {
    const work = rowOf(branch);
    return work?.merged_head === commit && work.ended_at !== null && Date.parse(work.ended_at) < before;
  };
  /** Branches that were made for work here. */
  const ofWork = async (look: (prefix: string) => Promise<Branch[]>): Promise<Branch[]> =>
    (await Promise.all(BRANCH_PREFIXES.map(look))).flat().filter(({ branch }) => workOfBranch(branch) !== undefined);
  async function join(work: WorkRow & { project_id: string }, into: string, message: string, signal?: AbortSignal) {
    const repository = repositoryOf(work.project_id);
    const head = await git.commitOf(repository, `refs/heads/${work.branch}`);
    if (head === null || head === work.base_commit) return;
    const mark = markOf(work, { into, head });
    // A crash may have left its mark.
    if (head === work.merged_head) return git.forgetMerge(repository, mark);
    const request = {
      repository,
      strategy: "merge",
      source: head,
      into,
      message,
      author: AUTHOR,
      mark,
      signal,
    } as const;
    const { commit, conflicts, ...more } = { commit: null, more: 0, ...(await git.merge(request)) };
    if (conflicts) {
      const files = conflicts.slice(0, NAMED_FILES).map(({ path }) => path);
      throw conflict(
        `Its changes conflict with those that ${into} has got meanwhile, in ${files.join(", ")}. They stay on the branch ${work.branch}. Do it again from the files as they are now, or merge that branch by hand.`,
        "merge_conflict",
        { into, files: conflicts, ...more },
      );
    }
    store.write(({ emit }) => {
      works.update(work.id, { merged_commit: commit, merged_into: into, merged_head: head });
      const refs = { session_id: work.id, project_id: work.project_id, user_id: work.user_id ?? undefined };
      emit(workspaceChanged, { ...refs, data: { cause: "merge", commit, branch: into } });
    });
    await git.forgetMerge(repository, mark);
  }
  return {
    async diff(work, wanted) {
      const { repository, base, head, range } = await rangeOf(work);
      const changed = await git.changedPaths(repository, range, wanted);
      return { branch: nameOf(work.id), base, head, changed };
    },
    hunks: (work, { base, head }, path) => git.hunks(repositoryOf(work.project_id), { from: base, to: head }, path),
    async patch(work, maxBytes) {
      const { repository, range } = await rangeOf(work);
      return git.patch(repository, range, { maxBytes });
    },
    merge: (work, request) => inTurn(work.project_id, () => merge(work, request)),
    forgetMerge: (work, merged) =>
      inTurn(work.project_id, () => git.forgetMerge(repositoryOf(work.project_id), markOf(work, merged))),
    async join(id, message, signal) {
      const work = works.find(id);
      const into = work?.joins ? works.branchOf(work.joins) : null;
      if (!work?.project_id || into === null) return;
      const { project_id } = work;
      await inTurn(project_id, () => join({ ...works.find(id)!, project_id }, into, message, signal));
    },
    async unmerged(projectId) {
      const left = await ofWork((prefix) => git.unmerged(repositoryOf(projectId), prefix));
      const isTaken = ({ branch, commit }: Branch) => rowOf(branch)?.merged_head === commit;
      return left.filter((one) => !isTaken(one)).map(({ branch }) => branch);
    },
    async sweepMerged(before) {
      for (const projectId of rows.ids()) {
        const { repository } = placeOf(folder, projectId);
        const isReady = () => rows.find(projectId)?.workspace_state === "ready";
        const found = await inTurn(projectId, async () =>
          isReady() ? await ofWork((prefix) => git.branches(repository, prefix)) : [],
        );
        for (const { branch, commit } of found)
          if (isDone(branch, commit, before))
            await inTurn(projectId, async () => {
              // It may have been restarted, or the project deleted, while this waited for its turn.
              if (isReady() && isDone(branch, commit, before)) await git.removeBranch(repository, branch, commit);
            });
      }
    },
    async push(projectId, branch) {
      await inTurn(projectId, async () => {
        const repository = repositoryOf(projectId);
        const source = rows.find(projectId)?.repository;
        if (!source) throw conflict("The project has no repository to push to.", "no_repository");
        const timeoutMs = PUSH_TIMEOUT_MS;
        await withRemote(deps, source, (remote) => git.push(branch, { ...remote, repository, timeoutMs })).catch(
          (error: unknown) => {
            if (!isProblem(error)) throw error;
            // The host's words may hold a credential that is known here.
            throw new Problem(error.status, error.code, deps.masking.text(error.detail), error.extras);
          },
        );
        // The repository has it now: a fetch that lacks it finds a rewritten history (updates.ts).
        const pushed = await git.commitOf(repository, `refs/heads/${branch}`);
        if (pushed !== null && workOfBranch(branch) === undefined)
          await git.setMark(repository, `upstream/${branch}`, pushed);
      });
    },
  };
}
