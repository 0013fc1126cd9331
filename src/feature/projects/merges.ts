/**
 * Merges branches of runs and sessions into a branch that a person names, or into the branch of the session that they
 * are a part of.
 */
import type { Head, MergeOutcome } from "../../adapter/git.ts";
import { conflict, invalidField } from "../../core/errors.ts";
import type { MergeStrategy } from "../../core/merge-strategy.ts";
import { isBranchName } from "../../core/ref-name.ts";
import { workspaceChanged } from "./events.ts";
import type { Updates, UpdatesDeps } from "./updates.ts";
import { AUTHOR } from "./upstream.ts";
import { type WorkRow, type Works, workOfBranch } from "./works.ts";

/**
 * `base_commit` is the commit where the work began; null: where its branch left the default branch. Once the branch is
 * deleted, changes are shown up to `merged_head`.
 */
export type WorkBranch = Pick<WorkRow, "id" | "base_commit" | "merged_head"> & { project_id: string };

export interface MergeRequest {
  strategy: MergeStrategy;
  /** The project's default branch unless given. */
  into?: string | undefined;
  message: string;
  taken: Taken | null;
  /** Ends the merge as long as the target branch has not moved. */
  signal?: AbortSignal | undefined;
  onStep?: ((percent: number) => void) | undefined;
}

/** The last merge of that work: which commit went into which branch. */
interface Taken {
  head: string;
  into: string;
}

export interface Merged {
  into: string;
  /** Commit of the work's branch that was merged. */
  head: string;
  /** Null when that commit was merged before, so that nothing was done. */
  outcome: MergeOutcome | null;
}

export interface MergesDeps extends Pick<UpdatesDeps, "store" | "git"> {
  works: Works;
  settle: Updates["settle"];
  /** @throws Problem 404. */
  repositoryOf(projectId: string): string;
  /** @throws Problem 404. */
  rangeOf(work: WorkBranch): Promise<{ repository: string; base: string; head: string }>;
}

/** Most files in conflict that an error names. */
const NAMED_FILES = 10;
/** Most branches that a message offers. */
const NAMED_BRANCHES = 10;

/**
 * Name of the mark of one merge. It holds commit and target, because work may be merged again after more work, and into
 * several branches.
 */
export const markOf = ({ id }: Pick<WorkBranch, "id">, { into, head }: Pick<Merged, "into" | "head">): string =>
  `${id}/${head}/${into}`;

/** The merges. Call them in the project's turn. */
export function createMerges({ store, git, works, settle, repositoryOf, rangeOf }: MergesDeps) {
  /**
   * A message for a merge without a target in a project without a default branch: why there is none, and what to do.
   */
  async function withoutTarget(repository: string): Promise<string> {
    const names = await git.fetchedBranches(repository, NAMED_BRANCHES);
    if (names.length === 0)
      return "The project has no default branch, since its repository has none: HEAD is a commit there. Make a branch in the repository (`git switch -c main`), fetch the project, then merge into that branch";
    return `The project has no default branch, since HEAD is a commit in its repository. Name the branch to merge into, or set the project's branch. There are: ${names.join(", ")}`;
  }
  /** The branch to merge into. A branch that only the remote has is made here. */
  async function targetOf(repository: string, into: string | undefined, head: Head): Promise<string> {
    const target = into ?? head.branch;
    if (target === null) throw invalidField("/into", await withoutTarget(repository));
    if (!isBranchName(target) || target.startsWith("run/") || workOfBranch(target))
      throw invalidField("/into", "Name a branch that belongs to no run or session");
    if (target === head.branch && head.commit !== null) return target;
    if ((await git.commitOf(repository, `refs/heads/${target}`)) !== null) return target;
    const fetched = await git.commitOf(repository, `refs/remotes/origin/${target}`);
    if (fetched === null)
      throw invalidField("/into", `There is no branch ${target}. Fetch the project if the branch is new`);
    await git.setBranch(repository, target, fetched, null);
    return target;
  }
  /**
   * Refuses a merge that would bring back commits which were removed from the repository (updates.ts), because the run
   * began from them.
   */
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
    await settle(work.project_id, "merge", moved);
    return { into: target, head, outcome };
  }
  async function join(work: WorkRow & { project_id: string }, into: string, message: string, signal?: AbortSignal) {
    const repository = repositoryOf(work.project_id);
    const head = await git.commitOf(repository, `refs/heads/${work.branch}`);
    if (head === null || head === work.base_commit) return;
    const mark = markOf(work, { into, head });
    // A crash after the merge may have left its mark.
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

  return { merge, join };
}
