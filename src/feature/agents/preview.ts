/**
 * Tells what an agent's permission rules would decide about a call, without making the call. It is used before a rule
 * is saved, or to see why a person was asked.
 */
import { invalid, invalidField } from "../../core/errors.ts";
import { didYouMean } from "../../core/near.ts";
import { type PermissionRule, textOfRule } from "../../core/permission-rule.ts";
import type { Decision } from "../../engine/permission/decide.ts";
import type { PermissionPreview, PermissionPreviewBody } from "./model.ts";

interface PreviewDeps {
  /** The agent's current rules and tools. @throws Problem 404. */
  agentOf(id: string): { permissions: readonly PermissionRule[]; tools: readonly string[] };
  toolNames(): readonly string[];
  /** Whether the name belongs to an MCP server. The server may offer the tool only later. */
  isOfServer(tool: string): boolean;
  /** Whether no rule applies to the tool, because it ends the work. */
  isUnbound(tool: string): boolean;
  /** From `engine/permission/`. */
  decide(rules: readonly PermissionRule[], tool: string, input: Readonly<Record<string, unknown>>): Decision;
  problemsOf(rules: unknown): readonly { path: readonly (string | number)[]; message: string }[];
}

export const createPermissionPreview =
  (deps: PreviewDeps) =>
  /** @throws Problem 404 unknown agent, 422 unknown tool or invalid rules. */
  (id: string, { tool, path, command, address, permissions }: PermissionPreviewBody): PermissionPreview => {
    const agent = deps.agentOf(id);
    const rules = permissions ?? agent.permissions;
    const faults = deps.problemsOf(rules).map(({ path: at, message }) => ({ pointer: `/${at.join("/")}`, message }));
    if (permissions && faults.length > 0) throw invalid(`These would be no rules: ${faults[0]!.message}`, faults);
    const known = [...new Set([...deps.toolNames(), ...agent.tools])];
    if (!known.includes(tool) && !deps.isOfServer(tool)) {
      const hint = didYouMean(tool, known) || `There are: ${known.join(", ")}.`;
      throw invalidField("/tool", `There is no tool "${tool.slice(0, 64)}". ${hint}`);
    }
    const has_tool = agent.tools.includes(tool);
    const none = {
      effect: "allow" as const,
      position: null,
      rule: null,
      asking: [],
      is_uncertain: false,
      has_tool,
    } satisfies Omit<PermissionPreview, "message">;
    if (deps.isUnbound(tool)) return { ...none, message: "Allowed: no rule binds what ends the work." };
    const { effect, rule, asking, isUncertain } = deps.decide(rules, tool, { path, command, url: address });
    const texts = rules.map(textOfRule);
    const at = rule === undefined ? -1 : texts.indexOf(rule.text);
    const found = {
      effect,
      position: at === -1 ? null : at + 1,
      rule: rule?.text ?? null,
      asking: asking.map(({ text }) => text),
      is_uncertain: isUncertain,
      has_tool,
    };
    return { ...found, message: wordsOf(found) };
  };

function wordsOf({ effect, position, rule, is_uncertain, has_tool }: Omit<PermissionPreview, "message">): string {
  const by = position === null ? "no rule matches" : `rule ${position} decides, ${rule}`;
  const what = { allow: "Allowed", ask: "A person is asked", deny: "Refused" }[effect];
  const unsure = is_uncertain ? " What the command does cannot be told from its text, so an answer holds once." : "";
  return `${what}: ${by}.${unsure}${has_tool ? "" : " The agent does not have this tool now."}`;
}
