/**
 * Permission rules in an agent's file: what its tools may do, what a person is asked about, what is refused. Pure.
 *
 *     permissions:                    # the first rule that matches decides; where none does, the call is allowed
 *       - allow: [read, search]
 *       - ask: { tool: bash, matches: "git push*" }
 *       - deny: { tool: edit, path: ".github/**" }
 */
import { isObject, membersOf } from "../../core/is-object.ts";
import { didYouMean } from "../../core/near.ts";
import {
  EFFECTS,
  type Effect,
  type PermissionRule,
  partsOfRule,
  TOOL_KINDS,
  textOfRule,
} from "../../core/permission-rule.ts";
import type { ValueProblem } from "../schema-problems.ts";
import { isToolOfServer, TOOL_NAMES } from "../tool/names.ts";

/** A rule in the form in which it is matched. */
export interface Rule {
  effect: Effect;
  /** Names, kinds, `server__*` or `*`; empty: any tool. */
  tools: readonly string[];
  paths: readonly string[];
  matches: readonly string[];
  /** The rule as text, the same for the same rule. People see it, and a remembered answer is stored with it. */
  text: string;
}

export const readRules = (rules: readonly PermissionRule[]): Rule[] =>
  rules.flatMap((rule) => {
    const parts = partsOfRule(rule);
    return parts === undefined ? [] : [{ ...parts, text: textOfRule(rule) }];
  });

/** Finds names in rules that no tool has: such a rule would silently never match. */
export function ruleProblems(rules: unknown): ValueProblem[] {
  if (!Array.isArray(rules)) return [];
  return rules.flatMap((rule, at): ValueProblem[] => {
    const members = membersOf(rule);
    const [effect, ...others] = EFFECTS.filter((one) => Object.hasOwn(members, one));
    if (effect === undefined) return [];
    if (others.length > 0) {
      const message = `A rule is one of ${EFFECTS.join(", ")}; this one is ${[effect, ...others].join(" and ")}. Write a rule for each.`;
      return [{ path: ["permissions", at], message }];
    }
    const target = members[effect];
    const names: unknown = isObject(target) ? target["tool"] : target;
    return (Array.isArray(names) ? names : [names]).flatMap((name: unknown) => {
      const message = typeof name === "string" ? nameProblem(name) : undefined;
      return message === undefined ? [] : [{ path: ["permissions", at, effect], message }];
    });
  });
}

function nameProblem(name: string): string | undefined {
  if (name === "*" || TOOL_KINDS.some((kind) => kind === name)) return undefined;
  if (TOOL_NAMES.has(name) || isToolOfServer(name)) return undefined;
  const known = new Set<string>([...TOOL_KINDS, ...TOOL_NAMES]);
  const hint = didYouMean(name, known) || `Kinds are: ${TOOL_KINDS.join(", ")}; or name a tool.`;
  return `There is no tool and no kind of tools "${name.slice(0, 64)}". ${hint}`;
}
