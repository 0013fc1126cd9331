/** What an external agent may do when it asks. */

import { ownToolName } from "../gateway/scripted-tools.ts";
import type { CallKind, PermissionOption, PermissionRequest } from "./port.ts";

/** The built-in tool that does the same: an agent's list of tools speaks of these. */
const SAME_AS: Partial<Record<CallKind, string>> = {
  read: "read",
  edit: "edit",
  delete: "bash",
  move: "bash",
  search: "grep",
  execute: "bash",
  fetch: "fetch_url",
};

export type Decision = "allow" | "deny";

/**
 * Decides on one request. The one place where rules about an external agent's calls apply.
 * @param tools names of the tools that the agent has now.
 */
export async function decide({ call }: PermissionRequest, tools: ReadonlySet<string>): Promise<Decision> {
  const own = ownToolName(call.name ?? call.title ?? "");
  if (own !== undefined) return tools.has(own) ? "allow" : "deny";
  if (call.kind === "think") return "allow";
  const same = SAME_AS[call.kind ?? "other"];
  return same !== undefined && tools.has(same) ? "allow" : "deny";
}

/**
 * The option that says so, for this time alone where there is such a one.
 * @returns undefined where none does: the request is then answered as cancelled, never by a yes.
 */
export function optionFor(decision: Decision, options: readonly PermissionOption[]): string | undefined {
  const kinds =
    decision === "allow" ? (["allow_once", "allow_always"] as const) : (["reject_once", "reject_always"] as const);
  for (const kind of kinds) {
    const found = options.find((option) => option.kind === kind);
    if (found) return found.id;
  }
  return undefined;
}
