/**
 * Merges branches with plumbing commands only: there is no working copy and no index, so no path in a repository is
 * ever opened as a file. A branch moves in one atomic step, and only if it is still where the merge began.
 */
import { conflict, isProblem } from "../../core/errors.ts";
import type { MergeStrategy } from "../../core/merge-strategy.ts";
import { type GitCommand, lineOf } from "./command.ts";
import type { Identity } from "./commit.ts";
import { assertBranch, assertRef } from "./names.ts";

export interface MergeRequest {
  repository: string;
  strategy: MergeStrategy;
  /** Commit to merge. */
  source: string;
  /** Branch to merge into. */
  into: string;
  message: string;
  author: Identity;
  /**
   * Unique name of this merge. When the merge is repeated after a crash, the mark tells whether it was already done.
   */
  mark?: string | undefined;
  /** Aborts the work, as long as the branch has not moved. */
  signal?: AbortSignal | undefined;
  /** Called as the work progresses. @param percent of the commits to rebase that are done. */
  onStep?: ((percent: number) => void) | undefined;
}

export interface ConflictingFile {
  path: string;
  /** Kind of conflict as git names it: `contents`, `modify/delete`. */
  kind: string;
  /** The conflicting parts with their markers, bounded; none when the whole file is in conflict. */
  hunks: string[];
}

export type MergeOutcome =
  | { commit: string; conflicts?: undefined }
  /** The branch did not move. `more` counts the further conflicting files that are not listed. */
  | { conflicts: ConflictingFile[]; more: number };

const MAX_FILES = 100;
const MAX_HUNKS = 10;
const MAX_HUNK_CHARACTERS = 4_000;
/** Bytes of all conflicting files that are read in total. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
const MAX_REBASED = 1_000;

type At = { cwd: string; gitDir: string; signal: AbortSignal | undefined; timeoutMs: number };

/** Merges a commit into a branch. @throws Problem 409 `branch_moved`, 422 for too many commits to rebase. */
export async function mergeInto(git: GitCommand, request: MergeRequest): Promise<MergeOutcome> {
  const { repository, into, source, strategy, signal } = request;
  assertBranch(into);
  assertRef(source);
  const at: At = { cwd: repository, gitDir: repository, signal, timeoutMs: 300_000 };
  const { target, done } = await placesOf(git, at, request);
  if (done !== undefined && (await isAncestor(git, at, done, target.commit))) return { commit: done };
  const made = await WAYS[strategy](git, at, { ...request, target });
  if (made.conflicts) return made;
  signal?.throwIfAborted();
  if (made.commit !== target.commit) await moveBranch(git, at, request, target.commit, made.commit);
  return made;
}

interface Target {
  commit: string;
  tree: string;
}
type Work = Pick<MergeRequest, "source" | "strategy" | "message" | "author" | "onStep"> & { target: Target };

const WAYS: Record<MergeStrategy, (git: GitCommand, at: At, work: Work) => Promise<MergeOutcome>> = {
  merge: joinBranches,
  squash: joinBranches,
  rebase: rebaseCommits,
};

const markRef = (mark: string): string => `refs/skep/merge/${mark}`;

/** Reads where the branch is, and which commit an earlier attempt with this mark has made. */
async function placesOf(git: GitCommand, at: At, { into, mark }: MergeRequest) {
  if (mark !== undefined) assertRef(mark);
  const branch = `refs/heads/${into}`;
  const wanted = [branch, ...(mark === undefined ? [] : [markRef(mark)])];
  const found = await lineOf(git, at, ["for-each-ref", "--format=%(refname) %(objectname) %(tree)", ...wanted]);
  const rows = new Map(found.split("\n").map((row) => [row.split(" ")[0]!, row.split(" ").slice(1)]));
  const [commit, tree] = rows.get(branch) ?? [];
  if (!commit || !tree) throw conflict(`The branch ${into} is gone.`, "branch_moved");
  return { target: { commit, tree }, done: mark === undefined ? undefined : rows.get(markRef(mark))?.[0] };
}

/**
 * Moves the branch and the mark in one transaction, so that after a crash the mark tells whether the branch was moved.
 */
async function moveBranch(git: GitCommand, at: At, request: MergeRequest, from: string, to: string): Promise<void> {
  const { into, mark } = request;
  const moves = [
    `update refs/heads/${into} ${to} ${from}`,
    ...(mark === undefined ? [] : [`update ${markRef(mark)} ${to}`]),
  ];
  try {
    // This step is not aborted, because what follows depends on whether it was done.
    await git(["update-ref", "-m", "run merged", "--stdin"], {
      ...at,
      signal: undefined,
      stdin: `${moves.join("\n")}\n`,
    });
  } catch (error) {
    if (!isProblem(error) || error.code !== "git_failed") throw error;
    throw conflict(`The branch ${into} moved during the merge. Try again.`, "branch_moved");
  }
}

/** Removes the mark of a merge whose result is stored elsewhere. */
export async function forgetMerge(git: GitCommand, repository: string, mark: string): Promise<void> {
  assertRef(mark);
  await git(["update-ref", "-d", markRef(mark)], { cwd: repository, gitDir: repository });
}

async function joinBranches(
  git: GitCommand,
  at: At,
  { source, target, strategy, message, author }: Work,
): Promise<MergeOutcome> {
  const tree = await mergedTree(git, at, target.commit, source);
  if (typeof tree !== "string") return tree;
  const isThere = tree === target.tree && (strategy === "squash" || (await isAncestor(git, at, source, target.commit)));
  if (isThere) return { commit: target.commit };
  const parents = strategy === "squash" ? [target.commit] : [target.commit, source];
  return { commit: await commitTree(git, at, { tree, parents, message, env: identityOf(author) }) };
}

/**
 * Applies the commits of `source` that `target` lacks one after another on top of `target`; merge commits are left out.
 */
async function rebaseCommits(git: GitCommand, at: At, { source, target, author, onStep }: Work): Promise<MergeOutcome> {
  const range = `${target.commit}..${source}`;
  const listed = await lineOf(git, at, ["rev-list", "--reverse", "--topo-order", "--no-merges", range]);
  const commits = listed.split("\n").filter(Boolean);
  if (commits.length > MAX_REBASED)
    throw conflict(`The branch has ${commits.length} commits, too many to rebase. Use squash.`, "too_many_commits");
  let tip = target.commit;
  for (const [index, commit] of commits.entries()) {
    onStep?.((100 * index) / commits.length);
    const [parent, name, email, date, ...text] = (
      await lineOf(git, at, ["show", "-s", "--format=%P%n%an%n%ae%n%ad%n%B", "--date=raw", commit])
    ).split("\n");
    if (!parent) continue;
    const tipTree = await treeOf(git, at, tip);
    // A commit with the tip's files whose parent is the commit's parent. Merging it with the commit applies the
    // commit's own change to the tip.
    const env = identityOf(author);
    const side = await commitTree(git, at, { tree: tipTree, parents: [parent], message: "side", env });
    const tree = await mergedTree(git, at, side, commit);
    if (typeof tree !== "string") return tree;
    if (tree === tipTree) continue;
    const by = { GIT_AUTHOR_NAME: name!, GIT_AUTHOR_EMAIL: email!, GIT_AUTHOR_DATE: date! };
    tip = await commitTree(git, at, { tree, parents: [tip], message: text.join("\n"), env: { ...env, ...by } });
  }
  return { commit: tip };
}

/** Merges two commits. @returns the merged tree, or the conflicts. */
async function mergedTree(
  git: GitCommand,
  at: At,
  ours: string,
  theirs: string,
): Promise<string | Extract<MergeOutcome, { conflicts: ConflictingFile[] }>> {
  const args = ["merge-tree", "--write-tree", "--allow-unrelated-histories", "--messages", "--name-only", "-z"];
  const { code, stdout } = await git([...args, ours, theirs], { ...at, accept: [1] });
  const [tree = "", ...rest] = stdout.split("\0");
  if (code === 0) return tree.trim();
  const end = rest.indexOf("");
  const paths = [...new Set(rest.slice(0, end))];
  const kinds = conflictKinds(rest.slice(end + 1));
  const conflicts: ConflictingFile[] = [];
  let left = MAX_READ_BYTES;
  for (const path of paths.slice(0, MAX_FILES)) {
    const text = await fileOf(git, at, tree, path, left);
    left -= text.length;
    conflicts.push({ path, kind: kinds.get(path) ?? "contents", hunks: conflictHunks(text) });
  }
  return { conflicts, more: paths.length - conflicts.length };
}

/** Reads the kind of conflict per path. Each message is: count of paths, the paths, kind, text. */
function conflictKinds(fields: string[]): Map<string, string> {
  const kinds = new Map<string, string>();
  for (let at = 0; at < fields.length && /^\d+$/.test(fields[at]!); ) {
    const count = Number(fields[at]);
    const kind = /^CONFLICT \((.*)\)$/.exec(fields[at + count + 1] ?? "")?.[1];
    if (kind) for (const path of fields.slice(at + 1, at + 1 + count)) kinds.set(path, kind);
    at += count + 3;
  }
  return kinds;
}

async function fileOf(git: GitCommand, at: At, tree: string, path: string, maxBytes: number): Promise<string> {
  const entry = await git(["ls-tree", "-z", "-l", tree, "--", path], {
    ...at,
    env: { GIT_LITERAL_PATHSPECS: "1" },
  });
  const [, type, id, size] = /^\d+ (\w+) (\w+) +(\d+)\t/.exec(entry.stdout) ?? [];
  if (type !== "blob" || Number(size) > maxBytes) return "";
  return (await git(["cat-file", "blob", id!], at)).stdout;
}

/**
 * Extracts the parts between conflict markers, including the markers. The text is untrusted, so it is read once, line
 * by line.
 */
function conflictHunks(text: string): string[] {
  const hunks: string[] = [];
  let start = -1;
  for (let from = 0; from < text.length && hunks.length < MAX_HUNKS; ) {
    const feed = text.indexOf("\n", from);
    const end = feed === -1 ? text.length : feed;
    if (start === -1 && text.startsWith("<<<<<<< ", from)) start = from;
    else if (start !== -1 && text.startsWith(">>>>>>> ", from)) {
      hunks.push(text.slice(start, Math.min(end, start + MAX_HUNK_CHARACTERS)));
      start = -1;
    }
    from = end + 1;
  }
  return hunks;
}

interface NewCommit {
  tree: string;
  parents: string[];
  message: string;
  env: Record<string, string>;
}

const commitTree = (git: GitCommand, at: At, { tree, parents, message, env }: NewCommit): Promise<string> =>
  git(["commit-tree", tree, ...parents.flatMap((id) => ["-p", id]), "-F", "-"], {
    ...at,
    env,
    stdin: `${message.trim()}\n`,
  }).then(({ stdout }) => stdout.trim());

const treeOf = (git: GitCommand, at: At, commit: string) => lineOf(git, at, ["rev-parse", `${commit}^{tree}`]);
const isAncestor = async (git: GitCommand, at: At, one: string, other: string): Promise<boolean> =>
  (await git(["merge-base", "--is-ancestor", one, other], { ...at, accept: [1] })).code === 0;

/** Environment variables that set git's author and committer. */
export const identityOf = ({ name, email }: Identity) => ({
  GIT_AUTHOR_NAME: name,
  GIT_AUTHOR_EMAIL: email,
  GIT_COMMITTER_NAME: name,
  GIT_COMMITTER_EMAIL: email,
});
