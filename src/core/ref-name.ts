/** Names of branches and tags that can be in a git command: rules of git-check-ref-format, and no leading `-`. */
const UNUSABLE = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|[/.]$|\.lock(\/|$)|\/\.|\/-|^@$/;

/** True for a plain branch or tag name, or a commit's hash. */
export const isRefName = (text: string): boolean => text.length > 0 && text.length <= 200 && !UNUSABLE.test(text);

/** Names that git gives a meaning of its own, and hashes, which it would read as commits. */
const NO_BRANCH = /^([A-Z_]*HEAD|[0-9a-f]{40,64})$|^refs(\/|$)/;

/** True for the name of a branch, as people and agents may give it. */
export const isBranchName = (text: string): boolean => isRefName(text) && !NO_BRANCH.test(text);
