/** Names of branches and tags that can be in a git command: rules of git-check-ref-format, and no leading `-`. */
const UNUSABLE = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|[/.]$|\.lock(\/|$)|\/\.|\/-|^@$/;

/** True for a plain branch or tag name, or a commit's hash. */
export const isRefName = (text: string): boolean => text.length > 0 && text.length <= 200 && !UNUSABLE.test(text);
