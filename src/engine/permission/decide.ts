/**
 * Whether a call may be made: the one place where permission rules are applied, for the built-in loop and for agents that
 * ask over a protocol of their own. Pure.
 */
import type { Effect, ToolKind } from "../../core/permission-rule.ts";
import { type CommandPart, splitCommand } from "./command-line.ts";
import { matchesPath, matchesText, mightMatch, plainPath } from "./pattern.ts";
import type { Rule } from "./rules.ts";

export interface PermissionRequest {
  /** Name of the tool. */
  tool: string;
  kind: ToolKind;
  /** Files and folders that it names. */
  paths?: readonly string[];
  /** A shell's command line. */
  command?: string | undefined;
  /** Of a page. */
  address?: string | undefined;
  /** Which command, files or page it is about was not said: a rule that asks or refuses by them has a person look. */
  isUntold?: boolean | undefined;
}

export interface Decision {
  effect: Effect;
  /** The rule that decided; undefined: no rule matches, so the call is allowed. */
  rule: Rule | undefined;
  /** Of `ask`: every rule that asks. A remembered answer is to each of them. */
  asking: readonly Rule[];
  /** Of `ask`: some of the command cannot be judged by its text, so the answer holds for this call alone. */
  isUncertain: boolean;
}

/** One thing that a call does: each is decided on its own, and the strictest decision holds. */
interface Deed {
  path?: string;
  text?: string;
  /** The beginning of `text` that is certain. */
  certain?: string | undefined;
  isUntold?: boolean;
}

const STRICTNESS: Readonly<Record<Effect, number>> = { allow: 0, ask: 1, deny: 2 };

/** @param rules in the order of the file: for each deed the first that matches decides. */
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
 * The strictest decision of several agents' rules: of the one at work, and of those that it works for.
 * @param requests one call: more than one where it may be any of several tools.
 */
export function decideAll(lists: readonly (readonly Rule[])[], ...requests: readonly PermissionRequest[]): Decision {
  const decisions = lists.flatMap((rules) => requests.map((request) => decide(rules, request)));
  const none: Decision = { effect: "allow", rule: undefined, asking: [], isUncertain: false };
  // A rule that allows counts more than none.
  const strictness = ({ effect, rule }: Decision) => STRICTNESS[effect] + (rule ? 0.5 : 0);
  const first = decisions.reduce((a, b) => (strictness(b) > strictness(a) ? b : a), none);
  if (first.effect !== "ask") return first;
  return {
    ...first,
    asking: decisions.flatMap(({ asking }) => asking),
    isUncertain: decisions.some(({ isUncertain }) => isUncertain),
  };
}

/** Whether the rules refuse every call of a tool, whatever it is called with. */
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
    // It cannot be judged by its text: a rule that allows does not, and one that asks or refuses has a person look.
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
  // A variable may hold anything: what is allowed must be so whatever follows the certain beginning.
  const isSure = matches.some((pattern) => pattern.endsWith("*") && matchesText(pattern, certain));
  if (isSure || (isMatch && effect !== "allow")) return "yes";
  return matches.some((pattern) => mightMatch(pattern, certain)) ? "perhaps" : "no";
}
