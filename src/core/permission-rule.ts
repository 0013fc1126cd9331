/** How permission rules are written in an agent's file. `engine/permission/` applies them. */
import { type Static, Type as t } from "@sinclair/typebox";

/** What a tool does, in the words of the Agent Client Protocol. */
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
export type PermissionTarget = Static<typeof PermissionTarget>;

export const PermissionRule = t.Object(
  { allow: t.Optional(PermissionTarget), ask: t.Optional(PermissionTarget), deny: t.Optional(PermissionTarget) },
  {
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    description:
      "`allow`, `ask` or `deny`: names of tools or kinds (read, edit, delete, move, search, execute, think, fetch, other, `*` for all), or `{tool, path, matches}` with patterns of paths, and of commands or addresses.",
  },
);
export type PermissionRule = Static<typeof PermissionRule>;

export const PermissionRules = t.Array(PermissionRule, {
  maxItems: RULES_MOST,
  description: "What tools may do: the first rule that matches decides; where none does, the call is allowed.",
});

