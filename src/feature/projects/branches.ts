/** The branches of runs: what changed on one, merging it into another, and pushing that. */
import { eq } from "drizzle-orm";
import type { ChangedPart, Head, Hunk, MergeOutcome, Wanted } from "../../adapter/git.ts";
import { conflict, invalidField, isProblem, notFound, Problem } from "../../core/errors.ts";
import type { MergeStrategy } from "../../core/merge-strategy.ts";
import { isBranchName } from "../../core/ref-name.ts";
import { runs } from "../../store/tables/runs.ts";
import { placeOf } from "./clones.ts";
import { type RemoteDeps, withRemote } from "./remote.ts";
import { branchOf } from "./run-workspaces.ts";
import type { ProjectStore } from "./store.ts";
import { AUTHOR, type Updates, type UpdatesDeps } from "./updates.ts";

export interface RunBranch {
  run_id: string;
  project_id: string;
  /** Commit that it began from; null: where it left the default branch. */
  base_commit: string | null;
  /** Its last merged commit, from which changes are shown once the branch is deleted. */
  merged_head: string | null;
}

export interface BranchDiff {
  branch: string;
  base: string;
  head: string;
  /** Those that were wanted, and counts of all. */
  changed: ChangedPart;
}

export interface MergeRequest {
  strategy: MergeStrategy;
  /** The project's default branch unless given. */
  into?: string | undefined;
  message: string;
  taken: Taken | null;
  /** Ends the merge while the branch has not moved. */
  signal?: AbortSignal | undefined;
  onStep?: ((percent: number) => void) | undefined;
}

/** The last merge of a run. */
interface Taken {
  head: string;
  into: string;
}

export interface Merged {
  into: string;
  /** Commit of the run's branch that was merged. */
  head: string;
  /** Null when that commit was merged before: nothing was done. */
  outcome: MergeOutcome | null;
}

export interface RunBranches {
  /** @throws Problem 404 when nothing was ever written to the branch. */
  diff(run: RunBranch, wanted: Wanted): Promise<BranchDiff>;
  hunks(
    run: RunBranch,
    diff: Pick<BranchDiff, "base" | "head">,
    path: string,
  ): Promise<{ hunks: Hunk[]; cut: boolean }>;
  patch(run: RunBranch, maxBytes: number): Promise<{ patch: string; cut: boolean }>;
  /**
   * May be repeated after a crash: a finished merge is found. Call `forgetMerge` once its result is stored.
   * @throws Problem 409 `nothing_to_merge`, `removed_commits`, 422 for a target that is not valid.
   */
  merge(run: RunBranch, request: MergeRequest): Promise<Merged>;
  forgetMerge(run: RunBranch, merged: Merged): Promise<void>;
  /** Branches of runs whose work was never merged. */
  unmerged(projectId: string): Promise<string[]>;
  /** Deletes branches of runs that were merged and have ended before that time, ms since the epoch. */
  sweepMerged(before: number): Promise<void>;
  /** @throws Problem 409 `no_repository`, `push_rejected`, `push_refused`, `target_checked_out`; 502. */
  push(projectId: string, branch: string): Promise<void>;
}

export interface RunBranchesDeps
  extends RemoteDeps,
    Pick<UpdatesDeps, "store" | "git" | "folder" | "inTurn" | "masking"> {
  rows: ProjectStore;
  settle: Updates["settle"];
}

const PUSH_TIMEOUT_MS = 120_000;

/** A run may be merged again after more work, and into several branches. */
const markOf = ({ run_id }: RunBranch, { into, head }: Pick<Merged, "into" | "head">): string =>
  `${run_id}/${head}/${into}`;

export function createRunBranches(deps: RunBranchesDeps): RunBranches {
  const { store, git, rows, inTurn, folder } = deps;
  const repositoryOf = (projectId: string): string => {
    if (!rows.find(projectId)) throw notFound("project");
    return placeOf(folder, projectId).repository;
  };
  async function tipOf(repository: string, { run_id, merged_head }: RunBranch): Promise<string> {
    const branch = await git.commitOf(repository, `refs/heads/${branchOf(run_id)}`);
    const tip = branch ?? (merged_head && (await git.commitOf(repository, merged_head)));
    if (tip === null) throw notFound("branch of this run");
    return tip;
  }
  async function rangeOf(run: RunBranch) {
    const repository = repositoryOf(run.project_id);
    const head = await tipOf(repository, run);
    const base = run.base_commit ?? (await git.mergeBase(repository, "HEAD", head)) ?? head;
    return { repository, base, head, range: { from: base, to: head } };
  }
  /** The branch to merge into; one that only the remote has is made here. */
  async function targetOf(repository: string, into: string | undefined, head: Head): Promise<string> {
    const target = into ?? head.branch;
    if (target === null || !isBranchName(target) || target.startsWith("run/"))
      throw invalidField("/into", "Name a branch that belongs to no run");
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
        `The run began from commits that were removed from the repository since; merging it would bring them back. Start the run again, or apply its patch by hand.`,
        "removed_commits",
        { commit: shared },
      );
    }
  }
  async function merge(run: RunBranch, { into, taken, ...request }: MergeRequest): Promise<Merged> {
    request.signal?.throwIfAborted();
    const [{ repository, base, head }, at] = await Promise.all([rangeOf(run), git.head(repositoryOf(run.project_id))]);
    if (base === head) throw conflict("The run changed no file: there is nothing to merge.", "nothing_to_merge");
    const target = await targetOf(repository, into, at);
    if (taken?.head === head && taken.into === target) return { into: target, head, outcome: null };
    await assertNotRemoved(repository, head, target);
    const mark = markOf(run, { into: target, head });
    const outcome = await git.merge({ ...request, repository, source: head, into: target, author: AUTHOR, mark });
    const moved = target === at.branch && !outcome.conflicts ? { ...at, commit: outcome.commit } : at;
    await deps.settle(run.project_id, "merge", moved);
    return { into: target, head, outcome };
  }
  /** The run has ended before, and this commit of it was merged. */
  const isDone = (branch: string, commit: string, before: number): boolean => {
    const run = store.db
      .select({ head: runs.merged_head, end: runs.finished_at })
      .from(runs)
      .where(eq(runs.id, branch.slice("run/".length)))
      .get();
    return run?.head === commit && run.end !== null && Date.parse(run.end) < before;
  };
  return {
    async diff(run, wanted) {
      const { repository, base, head, range } = await rangeOf(run);
      const changed = await git.changedPaths(repository, range, wanted);
      return { branch: branchOf(run.run_id), base, head, changed };
    },
    hunks: (run, { base, head }, path) => git.hunks(repositoryOf(run.project_id), { from: base, to: head }, path),
    async patch(run, maxBytes) {
      const { repository, range } = await rangeOf(run);
      return git.patch(repository, range, { maxBytes });
    },
    merge: (run, request) => inTurn(run.project_id, () => merge(run, request)),
    forgetMerge: (run, merged) =>
      inTurn(run.project_id, () => git.forgetMerge(repositoryOf(run.project_id), markOf(run, merged))),
    async unmerged(projectId) {
      const left = await git.unmerged(repositoryOf(projectId), "run");
      const isTaken = ({ branch, commit }: { branch: string; commit: string }) =>
        store.db
          .select({ head: runs.merged_head })
          .from(runs)
          .where(eq(runs.id, branch.slice("run/".length)))
          .get()?.head === commit;
      return left.filter((one) => !isTaken(one)).map(({ branch }) => branch);
    },
    async sweepMerged(before) {
      for (const projectId of rows.ids()) {
        const { repository } = placeOf(folder, projectId);
        const isReady = () => rows.find(projectId)?.workspace_state === "ready";
        const found = await inTurn(projectId, async () => (isReady() ? await git.branches(repository, "run") : []));
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
        if (pushed !== null && !branch.startsWith("run/")) await git.setMark(repository, `upstream/${branch}`, pushed);
      });
    },
  };
}
