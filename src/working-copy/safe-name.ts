/** Characters that HFS+ ignores when it compares names. */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
/**
 * `.git` or its short name in the forms that Windows takes for it: followed by dots and spaces, a stream (`:`) or a
 * path (`\`).
 */
const DOT_GIT = /^(?:\.git|git~1)[. ]*(?:$|[\\:])/i;
const DOT_GITMODULES = /^(?:\.gitmodules|gitmod~\d)[. ]*(?:$|[\\:])/i;
const MAY_MATTER = /git|[^\x20-\x7e]/i;

/**
 * Whether git may store this name in a tree. A system that checks the tree out must not take the name for its own
 * repository, nor read submodule settings through a link. Git refuses the same names.
 * @param name one component, `latin1`
 */
export function isSafeName(name: string, isLink: boolean): boolean {
  if (!MAY_MATTER.test(name)) return true;
  const seen = Buffer.from(name, "latin1").toString("utf8").replace(HFS_IGNORED, "");
  return seen.split("\\").every((part) => !DOT_GIT.test(part) && !(isLink && DOT_GITMODULES.test(part)));
}
