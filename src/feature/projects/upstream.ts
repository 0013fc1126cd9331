/**
 * The local default branch and the fetched one. Local merges that were not pushed stay: the fetched branch is merged
 * in. On a conflict, our branch stays as it is, and the error names the files.
 */
import type { Git } from "../../adapter/git.ts";
import { conflict } from "../../core/errors.ts";

/** Author of commits that the server makes. */
export const AUTHOR = { name: "Skep", email: "skep@localhost" };
const NAMED_FILES = 20;

export function createUpstream(git: Git) {
  /**
   * The default branch in three states: here, as last fetched, and as it was fetched when it was last joined with ours.
   */
  async function find(repository: string) {
    const { commit: ours, branch } = await git.head(repository);
    if (ours === null || branch === null) return undefined;
    const mark = `upstream/${branch}`;
    const fetched = await git.commitOf(repository, `refs/remotes/origin/${branch}`);
    return { ours, branch, mark, fetched, joined: await git.commitOf(repository, `refs/skep/${mark}`) };
  }
  /**
   * Merges what was fetched into our default branch.
   * @throws Problem 409 `branch_gone`, `branch_diverged`, `upstream_rewritten`.
   */
  async function join(repository: string): Promise<void> {
    const known = await find(repository);
    if (!known) return;
    if (known.fetched === null) {
      const [since, remedy] =
        known.joined === null
          ? ["yet", "Push one"]
          : ["any more", "If another one took its place, make that the project's (`skep projects update --branch`)"];
      throw conflict(`The repository has no branch ${known.branch} ${since}. ${remedy}.`, "branch_gone");
    }
    await merge(repository, { ...known, theirs: known.fetched });
    await git.setMark(repository, known.mark, known.fetched);
  }
  async function merge(
    repository: string,
    { ours, branch, theirs, joined }: { ours: string; branch: string; theirs: string; joined: string | null },
  ): Promise<void> {
    if (joined !== null && (await git.mergeBase(repository, joined, theirs)) !== joined)
      throw conflict(
        `The history of ${branch} was rewritten in the repository: ${joined.slice(0, 12)} is no longer part of it. To follow it, reset the project (\`skep projects reset\`): merges that were not pushed are left out, the branches of runs stay. To keep the old history, push it there again.`,
        "upstream_rewritten",
        { branch, was: joined, now: theirs },
      );
    const base = await git.mergeBase(repository, ours, theirs);
    if (base === theirs) return;
    if (base === ours) return git.setBranch(repository, branch, theirs, ours);
    const message = `Merge fetched ${branch}`;
    const request = { repository, strategy: "merge", source: theirs, into: branch, message, author: AUTHOR } as const;
    const { conflicts } = await git.merge(request);
    if (!conflicts) return;
    const files = conflicts.slice(0, NAMED_FILES).map(({ path }) => path);
    throw conflict(
      `What was merged here and the fetched ${branch} are in conflict in ${files.join(", ")}. Push the merged runs to another branch and merge the two there, or create the project again.`,
      "branch_diverged",
      { files },
    );
  }
  return { find, join };
}
