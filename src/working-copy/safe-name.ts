/** Characters that HFS+ passes over when it compares names. */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
/** `.git` or its short name, as Windows sees it: dots and spaces at the end, streams and folders after it. */
const DOT_GIT = /^(?:\.git|git~1)[. ]*(?:$|[\\:])/i;
const DOT_GITMODULES = /^(?:\.gitmodules|gitmod~\d)[. ]*(?:$|[\\:])/i;
const MAY_MATTER = /git|[^\x20-\x7e]/i;

/**
 * Whether git may keep this name in a tree: no system that checks it out may take it for a repository of its own, nor
 * read settings of submodules through a link. Git refuses the same names.
 * @param name one component, `latin1`
 */
export function isSafeName(name: string, isLink: boolean): boolean {
  if (!MAY_MATTER.test(name)) return true;
  const seen = Buffer.from(name, "latin1").toString("utf8").replace(HFS_IGNORED, "");
  return seen.split("\\").every((part) => !DOT_GIT.test(part) && !(isLink && DOT_GITMODULES.test(part)));
}
