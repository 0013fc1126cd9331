/**
 * Decides whether a call may be made. This is the one place where permission rules are applied, for the built-in loop
 * and for agents that ask over a protocol of their own. Pure.
 */
import type { Effect, ToolKind } from "../../core/permission-rule.ts";
import { type CommandPart, splitCommand } from "./command-line.ts";
import { matchesPath, matchesText, mightMatch, plainPath } from "./pattern.ts";
import type { Rule } from "./rules.ts";

export interface PermissionRequest {
  /** Name of the tool. */
  tool: string;
  kind: ToolKind;
  /** Files and folders that the call names. */
  paths?: readonly string[];
  /** A shell's command line. */
  command?: string | undefined;
  /** URL of a page. */
  address?: string | undefined;
  /**
   * True when it is unknown which command, files or page the call is about. A rule that asks or denies by them then
   * asks a person.
   */
  isUntold?: boolean | undefined;
}

export interface Decision {
  effect: Effect;
  /** The rule that decided; undefined: no rule matches, so the call is allowed. */
  rule: Rule | undefined;
  /** For `ask`: every rule that asks. A remembered answer counts for each of them. */
  asking: readonly Rule[];
  /** For `ask`: a part of the command cannot be judged by its text, so the answer holds for this call only. */
  isUncertain: boolean;
}

/** One thing that a call does. Each deed is decided on its own, and the strictest decision holds. */
interface Deed {
  path?: string;
  text?: string;
  /** The prefix of `text` that is certain. */
  certain?: string | undefined;
  isUntold?: boolean;
}

const STRICTNESS: Readonly<Record<Effect, number>> = { allow: 0, ask: 1, deny: 2 };

/** @param rules in the order of the file: for each deed, the first rule that matches decides. */
export function decide(rules: readonly Rule[], request: PermissionRequest): Decision {
  const about = rules.filter(({ tools }) => isAbout(tools, request));
  const none: Decision = { effect: "allow", rule: undefined, asking: [], isUncertain: false };
  if (about.length === 0) return none;
  let strictest = none;
  const asking = new Set<Rule>();
  let isUncertain = false;
  for (const deed of deedsOf(request)) {
    const { effect, rule, unsure } = decideDeed(about, deed);
    if (effect === "ask" && rule) asking.add(rule);
    isUncertain ||= unsure;
    if (strictest.rule === undefined || STRICTNESS[effect] > STRICTNESS[strictest.effect])
      strictest = { ...none, effect, rule };
  }
  return strictest.effect === "ask" ? { ...strictest, asking: [...asking], isUncertain } : strictest;
}

/**
 * Takes the strictest decision by the rules of several agents: the one at work, and those that it works for.
 * @param requests one call; several requests when the call may be any of several tools.
 */
export function decideAll(lists: readonly (readonly Rule[])[], ...requests: readonly PermissionRequest[]): Decision {
  const decisions = lists.flatMap((rules) => requests.map((request) => decide(rules, request)));
  const none: Decision = { effect: "allow", rule: undefined, asking: [], isUncertain: false };
  // A decision by a rule outweighs the same decision without a rule.
  const weigh = ({ effect, rule }: Decision) => STRICTNESS[effect] + (rule ? 0.5 : 0);
  const first = decisions.reduce((a, b) => (weigh(b) > weigh(a) ? b : a), none);
  if (first.effect !== "ask") return first;
  return {
    ...first,
    asking: decisions.flatMap(({ asking }) => asking),
    isUncertain: decisions.some(({ isUncertain }) => isUncertain),
  };
}

/** Whether the rules refuse every call of a tool, regardless of its input. */
export function refusesAlways(rules: readonly Rule[], tool: Pick<PermissionRequest, "tool" | "kind">): boolean {
  const about = rules.filter(({ tools }) => isAbout(tools, tool));
  const always = about.findIndex(({ paths, matches }) => paths.length === 0 && matches.length === 0);
  return always >= 0 && about.slice(0, always + 1).every(({ effect }) => effect === "deny");
}

const isAbout = (tools: readonly string[], { tool, kind }: Pick<PermissionRequest, "tool" | "kind">): boolean =>
  tools.length === 0 || tools.some((name) => name === kind || matchesText(name, tool));

function deedsOf({ paths = [], command, address, isUntold = false }: PermissionRequest): Deed[] {
  const deeds: Deed[] = paths.map((path) => ({ path: plainPath(path) }));
  if (command !== undefined) deeds.push(...splitCommand(command).map((part: CommandPart) => part));
  if (address !== undefined) deeds.push({ text: address });
  if (isUntold) deeds.push({ isUntold });
  return deeds.length === 0 ? [{}] : deeds;
}

function decideDeed(rules: readonly Rule[], deed: Deed): { effect: Effect; rule: Rule | undefined; unsure: boolean } {
  for (const rule of rules) {
    const fit = fitOf(rule, deed);
    if (fit === "yes") return { effect: rule.effect, rule, unsure: false };
    // The text is not enough to judge: a rule that allows does not apply, and a rule that asks or denies asks a person.
    if (fit === "perhaps" && rule.effect !== "allow") return { effect: "ask", rule, unsure: true };
  }
  return { effect: "allow", rule: undefined, unsure: false };
}

function fitOf({ effect, paths, matches }: Rule, { path, text, certain, isUntold }: Deed): "yes" | "no" | "perhaps" {
  if (isUntold && paths.length + matches.length > 0) return "perhaps";
  if (paths.length > 0 && (path === undefined || !paths.some((pattern) => matchesPath(pattern, path)))) return "no";
  if (matches.length === 0) return "yes";
  if (text === undefined) return "no";
  const isMatch = matches.some((pattern) => matchesText(pattern, text));
  if (certain === undefined) return isMatch ? "yes" : "no";
  // A variable may hold anything, so a rule that allows must match whatever follows the certain prefix.
  const isSure = matches.some((pattern) => pattern.endsWith("*") && matchesText(pattern, certain));
  if (isSure || (isMatch && effect !== "allow")) return "yes";
  return matches.some((pattern) => mightMatch(pattern, certain)) ? "perhaps" : "no";
}
