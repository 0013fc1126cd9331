/** What `skep doctor` reports about source lines that parsers could not read. */
import { type Finding, pass, warn } from "../doctor/model.ts";
import type { GraphStatus } from "./model.ts";

/** Share of a project's lines that parsers could not read above which doctor warns. */
const MUCH_UNREAD = 0.02;

/** @param unreadOf the unread lines of a project's index; undefined without an index. */
export function findUnread(
  projects: readonly string[],
  unreadOf: (id: string) => GraphStatus["unread"] | undefined,
): Finding {
  const found = projects.flatMap((id) => {
    const unread = unreadOf(id);
    return unread && unread.share > MUCH_UNREAD ? [{ id, ...unread }] : [];
  });
  const [worst] = found.sort((a, b) => b.share - a.share);
  if (!worst) return pass("code graph", `${projects.length} projects indexed`);
  const file = worst.worst[0];
  const detail = `parsers could not read ${worst.lines} lines of project ${worst.id} (${(worst.share * 100).toFixed(1)} %), most in ${file?.path ?? "?"}`;
  return warn("code graph", detail, "Do not rely on the graph alone for these files: search their text as well.");
}
