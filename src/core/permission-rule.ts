/** How permission rules are written in an agent's file. `engine/permission/` applies them. */
import { type Static, Type as t } from "@sinclair/typebox";

/** What a tool does, in the terms of the Agent Client Protocol. */
export const TOOL_KINDS = [
  ...(["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"] as const),
] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

export const EFFECTS = ["allow", "ask", "deny"] as const;
export type Effect = (typeof EFFECTS)[number];

const RULES_MOST = 100;
const PATTERNS_MOST = 50;
const Name = t.String({ minLength: 1, maxLength: 128 });
const Pattern = t.String({ minLength: 1, maxLength: 512 });
const oneOrMore = <T extends typeof Name>(one: T) =>
  t.Union([one, t.Array(one, { minItems: 1, maxItems: PATTERNS_MOST })]);

const PermissionTarget = t.Union([
  Name,
  t.Array(Name, { minItems: 1, maxItems: PATTERNS_MOST }),
  t.Object(
    {
      tool: t.Optional(oneOrMore(Name)),
      path: t.Optional(oneOrMore(Pattern)),
      matches: t.Optional(oneOrMore(Pattern)),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
]);

export const PermissionRule = t.Object(
  { allow: t.Optional(PermissionTarget), ask: t.Optional(PermissionTarget), deny: t.Optional(PermissionTarget) },
  {
    additionalProperties: false,
    minProperties: 1,
    description:
      "The key `allow`, `ask` or `deny` is what happens to a call. Its value names tools or kinds of tools (read, edit, delete, move, search, execute, think, fetch, other, `*` for all). Or it is `{tool, path, matches}` with patterns of paths, and of commands or addresses.",
  },
);
export type PermissionRule = Static<typeof PermissionRule>;

export const PermissionRules = t.Array(PermissionRule, {
  maxItems: RULES_MOST,
  description: "Rules for calls of tools. The first rule that matches decides; if none does, the call is allowed.",
});

const listOf = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === "string" ? [value] : value;

/** The parts of a rule, each as a list; undefined for a rule without an effect. */
export function partsOfRule(rule: PermissionRule) {
  const effect = EFFECTS.find((one) => rule[one] !== undefined);
  if (effect === undefined) return undefined;
  const target = rule[effect]!;
  const isObject = typeof target === "object" && !Array.isArray(target);
  return {
    effect,
    tools: listOf(isObject ? target.tool : target),
    paths: isObject ? listOf(target.path) : [],
    matches: isObject ? listOf(target.matches) : [],
  };
}

/**
 * The rule as text, e.g. `ask bash: git push*`. The same rule always gives the same text. People read it, and a
 * remembered answer refers to it.
 */
export function textOfRule(rule: PermissionRule): string {
  const parts = partsOfRule(rule);
  if (parts === undefined) return "";
  const { effect, tools, paths, matches } = parts;
  const path = paths.length > 0 && `path ${paths.join(", ")}`;
  return `${effect} ${[tools.join(", ") || "any tool", path, matches.join(", ")].filter(Boolean).join(": ")}`;
}

const KIND_OF_TOOL: Readonly<Record<string, ToolKind>> = {
  read: "read",
  ls: "read",
  read_document: "read",
  get_vision: "read",
  load_skill: "read",
  write: "edit",
  edit: "edit",
  find: "search",
  grep: "search",
  search_documents: "search",
  recall: "search",
  get_run_history: "search",
  code_graph_ask: "search",
  code_graph_query: "search",
  code_graph_context: "search",
  code_graph_impact: "search",
  code_graph_changes: "search",
  bash: "execute",
  fetch_url: "fetch",
};

/** The kind of one of our own tools; tools of tool servers are `other`. */
export const kindOfTool = (name: string): ToolKind => KIND_OF_TOOL[name] ?? "other";
