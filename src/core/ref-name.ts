/**
 * Names of branches and tags that are safe in a git command: the rules of git-check-ref-format, and no leading `-`.
 */
const UNUSABLE = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|[/.]$|\.lock(\/|$)|\/\.|\/-|^@$/;

/** True for a plain branch or tag name, or a commit's hash. */
export const isRefName = (text: string): boolean => text.length > 0 && text.length <= 200 && !UNUSABLE.test(text);

/** Names with a special meaning in git, and hashes, which git would read as commits. */
const NO_BRANCH = /^([A-Z_]*HEAD|[0-9a-f]{40,64})$|^refs(\/|$)/;

/** True for a valid branch name from a person or an agent. */
export const isBranchName = (text: string): boolean => isRefName(text) && !NO_BRANCH.test(text);
