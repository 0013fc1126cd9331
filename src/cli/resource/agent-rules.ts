/** `skep agents rules` and `skep agents try`: changes the rules for an agent's tools, and tests them without a call. */
import type { RowOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { EFFECTS, type PermissionRule, textOfRule } from "../../core/permission-rule.ts";
import { type Call, type Flags, type OptionSpec, type Verb, verbMakers } from "./resource.ts";
import { listOf } from "./words.ts";

type List = "/v1/agents";
type Item = RowOf<List>;
type One = Call<Item, `${List}/${string}`>;
const { actOnOne } = verbMakers<List>();

const ACTIONS = ["add", "change", "move", "remove"] as const;

const RULE: readonly OptionSpec[] = [
  { flags: "--allow <tools>", about: "tools, or kinds of tools, that the agent may use, separated by commas" },
  { flags: "--ask <tools>", about: "tools, or kinds of tools, that a person is asked about, separated by commas" },
  { flags: "--deny <tools>", about: "tools, or kinds of tools, that the agent may not use, separated by commas" },
  { flags: "--path <patterns...>", about: "the rule applies only to these files, e.g. .github/**" },
  { flags: "--matches <patterns...>", about: 'the rule applies only to these commands or addresses, e.g. "git push*"' },
];

export const RULE_VERBS: readonly Verb<Item, List>[] = [
  actOnOne("rules", "show, add, change, move or remove permission rules of an agent; the first that matches decides", {
    args: [
      { name: "[action]", about: "what to do (default: show the rules)", choices: ACTIONS },
      { name: "[number]", about: "number of the rule, from 1; with add, its place (default: the last)" },
      { name: "[place]", about: "with move, the new number of the rule" },
    ],
    options: RULE,
    run: editRules,
  }),
  actOnOne("try", "show what an agent's rules decide about a tool call, without making the call", {
    args: [{ name: "<tool>", about: "name of the tool" }],
    options: [
      { flags: "--path <path>", about: "file or folder that the call names" },
      { flags: "--command <line>", about: "command line, for the tool bash" },
      { flags: "--address <url>", about: "address of the page, for the tool fetch_url" },
    ],
    async run({ client, path, args: [tool = ""], flags }) {
      const { path: file, command, address } = flags;
      const found = await client.call("POST", `${path}/permissions/preview`, { tool, path: file, command, address });
      return { json: found, text: found.message };
    },
  }),
];

async function editRules({ client, item, path, args: [action, number, place], flags }: One) {
  const stored: PermissionRule[] = item.config.permissions;
  const write = async (permissions: PermissionRule[]) => {
    const { config } = await client.call("PUT", `${path}/config`, { permissions });
    return { json: config.permissions, text: linesOf(config.permissions) };
  };
  if (action === undefined) return { json: stored, text: linesOf(stored) };
  if (action === "add") {
    const at = number === undefined ? stored.length : placeIn(number, stored.length + 1);
    return write(stored.toSpliced(at, 0, ruleIn(flags)));
  }
  if (number === undefined) throw badUsage(`Say which rule to ${action}, from 1 to ${stored.length}.`);
  const at = placeIn(number, stored.length);
  if (action === "change") return write(stored.with(at, ruleIn(flags)));
  const without = stored.toSpliced(at, 1);
  if (action === "remove") return write(without);
  if (place === undefined) throw badUsage(`Say where rule ${number} goes, from 1 to ${stored.length}.`);
  return write(without.toSpliced(placeIn(place, stored.length), 0, stored[at]!));
}

/** @throws Problem 422 unless the text is a number from 1 to `last`. */
function placeIn(text: string, last: number): number {
  const place = Number(text);
  if (last === 0) throw badUsage("The agent has no rules. Add one: skep agents rules AGENT add --ask bash");
  if (!Number.isInteger(place) || place < 1 || place > last)
    throw badUsage(`"${text}" is not the number of a rule: there are 1 to ${last}.`);
  return place - 1;
}

/** @throws Problem 422 unless the flags name exactly one effect. */
function ruleIn(flags: Flags): PermissionRule {
  const [effect, ...others] = EFFECTS.filter((one) => flags[one] !== undefined);
  if (effect === undefined || others.length > 0) throw badUsage("Say one of --allow, --ask and --deny, with tools.");
  const { path, matches } = flags;
  const tools = listOf(flags[effect]);
  if (tools.length === 0) throw badUsage(`--${effect} names no tool. Name some, e.g. --${effect} bash,edit.`);
  for (const [name, patterns] of Object.entries({ path, matches }))
    if (patterns?.includes("")) throw badUsage(`--${name} is empty. Give a pattern, or leave the flag out.`);
  if (path === undefined && matches === undefined) return { [effect]: tools };
  return { [effect]: { tool: tools, ...(path ? { path } : {}), ...(matches ? { matches } : {}) } };
}

const linesOf = (all: readonly PermissionRule[]): string[] =>
  all.length === 0
    ? ["No rules: it may use its tools without asking. Add one: skep agents rules AGENT add --ask bash"]
    : all.map((rule, at) => `${String(at + 1).padStart(3)}  ${textOfRule(rule)}`);
