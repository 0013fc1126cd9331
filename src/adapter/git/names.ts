/** Checks names before they go into git's argument vectors. Git would read a name that begins with `-` as an option. */
import { Problem } from "../../core/errors.ts";
import { isBranchName, isRefName } from "../../core/ref-name.ts";

const createProblem = (what: string) => new Problem(422, "bad_git_name", `This is not a usable ${what}.`);

/** @throws Problem 422 unless it is a plain branch or tag name, or a commit's hash. */
export function assertRef(ref: string): void {
  if (!isRefName(ref)) throw createProblem("branch name");
}

/** @throws Problem 422 unless it is a valid branch name; a commit's hash or a word such as HEAD is not. */
export function assertBranch(name: string): void {
  if (!isBranchName(name)) throw createProblem("branch name");
}

/** @throws Problem 422 unless it can be used as a folder's name unchanged. */
export function assertName(name: string): void {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(name)) throw createProblem("worktree name");
}
