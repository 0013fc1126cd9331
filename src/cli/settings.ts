/** `skep settings` and `skep budgets`: settings that can change while the server runs. */
import type { Command } from "commander";
import type { Schemas } from "../api/types.ts";
import { badUsage, isProblem, Problem } from "../core/errors.ts";
import { readPairs } from "./read-input.ts";
import { say } from "./resource/command.ts";
import type { Flags } from "./resource/resource.ts";
import type { Client } from "./server/client.ts";
import { connect, type ServerFlags, withServer } from "./server/locate.ts";
import { costText, fieldLines, tableLines, timeText } from "./terminal/table.ts";

type Spent = Schemas["Usage"]["budgets"][number];
/** A budget. A limit for each single run has no spending here, because the spending belongs to each run. */
type Budget = Partial<Omit<Spent, "scope">> & { scope: string; limit_usd: number };
type Groups = Record<string, Record<string, unknown>>;
type Exit = (code: number) => void;

export function settingsCommands(program: Command, exit: Exit): void {
  const settings = withServer(program.command("settings"))
    .description("show the settings that can be changed while the server runs")
    .argument("[group]", "group of settings to show, e.g. models, budgets (default: all groups)")
    .action(async (group: string | undefined, flags: ServerFlags) => {
      const all = await (await connect(flags)).ask<Groups>("GET", "/v1/settings");
      say(
        flags,
        { json: group ? groupOf(all, group) : all, text: linesOf(group ? { [group]: groupOf(all, group) } : all) },
        exit,
      );
    });
  withServer(settings.command("set"))
    .description("change settings, e.g. models.default=ollama/qwen3 budgets.run_usd=2; null resets a field")
    .argument("<group.field=value...>", "fields as `skep settings` shows them")
    .action(async (pairs: string[], _: Flags, command: Command) =>
      change(command.optsWithGlobals(), readPairs(pairs), exit),
    );

  const budgets = withServer(program.command("budgets"))
    .description("show the budgets and what is spent of each")
    .action(async (flags: ServerFlags) => {
      const client = await connect(flags);
      const { budgets: spent } = await client.call("GET", "/v1/usage");
      const items = [...(await limitsOfEach(client)), ...spent];
      say(flags, { json: { items }, text: budgetLines(items) }, exit);
    });
  withServer(budgets.command("set"))
    .description("change budgets, e.g. run_usd=2 user_per_day_usd=10; null removes a limit")
    .argument("<field=usd...>", "fields as `skep settings budgets` shows them")
    .action(async (pairs: string[], _: Flags, command: Command) => {
      const fields = Object.entries(readPairs(pairs)).map(([name, value]) => [`budgets.${name}`, value] as const);
      await change(command.optsWithGlobals(), Object.fromEntries(fields), exit);
    });
}

function groupOf(all: Groups, group: string): Record<string, unknown> {
  const found = all[group];
  if (found) return found;
  throw new Problem(404, "not_found", `There are no settings ${group}. There are: ${Object.keys(all).join(", ")}.`);
}

const linesOf = (groups: Groups): string[] =>
  fieldLines(
    Object.entries(groups).flatMap(([group, fields]) =>
      Object.entries(fields).map(([name, value]) => [`${group}.${name}`, value ?? "(default)"] as const),
    ),
  );

/** @param fields values by `group.field`. */
async function change(flags: ServerFlags, fields: Record<string, unknown>, exit: Exit): Promise<void> {
  const body: Groups = {};
  for (const [path, value] of Object.entries(fields)) {
    const [group = "", field = "", ...rest] = path.split(".");
    if (field === "" || rest.length > 0)
      throw badUsage(`${path} is not a setting: give GROUP.FIELD=VALUE, as skep settings shows them.`);
    body[group] = { ...body[group], [field]: value };
  }
  const after = await (await connect(flags)).ask<Groups>("PUT", "/v1/settings", body);
  const changed = Object.fromEntries(
    Object.entries(body).map(([group, names]) => [
      group,
      Object.fromEntries(Object.keys(names).map((name) => [name, after[group]?.[name]])),
    ]),
  );
  say(flags, { json: after, text: linesOf(changed) }, exit);
}

/** The limits for each single run, without spending. Only administrators see them. */
async function limitsOfEach(client: Client): Promise<Budget[]> {
  try {
    const { budgets } = await client.call("GET", "/v1/settings");
    const each = { run: budgets.run_usd, agent_run: budgets.agent_per_run_usd };
    return Object.entries(each).flatMap(([scope, limit_usd]) => (limit_usd === null ? [] : [{ scope, limit_usd }]));
  } catch (error) {
    if (isProblem(error) && error.status === 403) return [];
    throw error;
  }
}

const EACH: Record<string, string> = { run: "each run", agent_run: "each agent in a run" };

function budgetLines(states: readonly Budget[]): string[] {
  if (states.length === 0) return ["No budgets are set. Set one: skep budgets set run_usd=2"];
  return tableLines(
    [
      { head: "BUDGET", of: ({ scope }) => EACH[scope] ?? scope.replaceAll("_", " ") },
      { head: "LIMIT", of: ({ limit_usd }) => costText(limit_usd), right: true },
      { head: "SPENT", of: ({ spent_usd }) => (spent_usd === undefined ? "" : costText(spent_usd)), right: true },
      {
        head: "OF IT",
        of: ({ percent }) => (percent === undefined ? "" : `${percent} %`),
        right: true,
        style: ({ percent = 0 }) => (percent >= 100 ? "red" : percent >= 80 ? "yellow" : undefined),
      },
      { head: "RESETS", of: ({ resets_at }) => timeText(resets_at) },
    ],
    states,
  );
}
