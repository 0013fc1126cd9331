/** What may be in git's argument vectors. Whatever begins with `-` would be read as an option. */
import { Problem } from "../../core/errors.ts";
import { isBranchName, isRefName } from "../../core/ref-name.ts";

const bad = (what: string) => new Problem(422, "bad_git_name", `This is not a usable ${what}.`);

/** @throws Problem 422 unless it is a plain branch or tag name, or a commit's hash. */
export function assertRef(ref: string): void {
  if (!isRefName(ref)) throw bad("branch name");
}

/** @throws Problem 422 unless it can be the name of a branch: neither a commit nor a word such as HEAD. */
export function assertBranch(name: string): void {
  if (!isBranchName(name)) throw bad("branch name");
}

/** @throws Problem 422 unless it can be a folder's name as it is. */
export function assertName(name: string): void {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(name)) throw bad("worktree name");
}
