/** The commands of a resource: `skep NAME` lists its items, `skep NAME ONE` shows one, `skep NAME VERB …` acts. */
import { Argument, type Command, Option } from "commander";
import { connect, type ServerFlags, withServer } from "../server/locate.ts";
import { ownColoursOnly } from "../terminal/style.ts";
import { fieldLines, tableLines } from "../terminal/table.ts";
import { countOf, findOne, listItems, locate, queryOf } from "./find.ts";
import { withFlags } from "./in-flags.ts";
import type { Answer, AnyResource, ArgumentSpec, Flags, OptionSpec, Verb } from "./resource.ts";

export type Exit = (code: number) => void;

const DEFAULT_COUNT = 50;

/** Adds the commands of a resource to a program. */
export function resourceCommands(program: Command, resource: AnyResource, exit: Exit): Command {
  const { name, one, about, filters = [], verbs } = resource;
  const command = withServer(program.command(name))
    .description(about)
    .argument(`[${one}]`, `id or name of the ${one} to show; a unique beginning of it, or end of an id, is enough`)
    .option("--limit <n>", "highest number of items to list", String(DEFAULT_COUNT));
  for (const option of [...filters, ...(resource.options ?? []), ...placeOf(resource)])
    command.addOption(optionOf(option));
  command.action(async (word: string | undefined, flags: Flags) => {
    await withFlags(command, async () => {
      const answer = word === undefined ? await list(resource, flags) : await show(resource, word, flags);
      say(flags, answer, exit);
    });
  });
  for (const verb of verbs) verbCommand(command, resource, verb, exit);
  return command;
}

export function optionOf({ flags, about, choices, default: value }: OptionSpec): Option {
  const option = new Option(flags, about);
  if (choices) option.choices([...choices]);
  if (value !== undefined) option.default(value);
  return option;
}

function argumentOf({ name, about, choices }: ArgumentSpec): Argument {
  const argument = new Argument(name, about);
  return choices ? argument.choices([...choices]) : argument;
}

/** Adds a verb of a resource, below the resource's command or as a top-level command. */
export function verbCommand(parent: Command, resource: AnyResource, verb: Verb<object>, exit: Exit): void {
  const command = withServer(parent.command(verb.name)).description(verb.about);
  if (verb.on === "one") command.argument(`<${resource.one}>`, `id or name of the ${resource.one}`);
  for (const argument of verb.args ?? []) command.addArgument(argumentOf(argument));
  for (const option of [...(verb.options ?? []), ...placeOf(resource)]) command.addOption(optionOf(option));
  command.action(async (...given: unknown[]) => {
    // Options may stand before or after the verb's name.
    const flags = command.optsWithGlobals<Flags>();
    const words = given
      .slice(0, -2)
      .flat()
      .filter((word): word is string => typeof word === "string");
    const client = await connect(flags);
    const placed = await locate(client, resource, flags);
    const item = verb.on === "one" ? await findOne(client, placed, words.shift()!) : {};
    const call = { client, item, args: words, flags };
    await withFlags(command, async () => {
      const answer =
        verb.on === "one"
          ? await verb.run({ ...call, path: pathOf(placed, item) })
          : await verb.run({ ...call, path: placed.path });
      say(flags, answer, exit);
    });
  });
}

const placeOf = ({ within }: AnyResource): OptionSpec[] => (within ? [within.option] : []);

const pathOf = ({ path, idOf, pathOf: own }: AnyResource, item: object) =>
  own?.(item) ?? (`${path}/${encodeURIComponent(idOf(item))}` as const);

async function list(resource: AnyResource, flags: Flags): Promise<Answer> {
  const given = (resource.filters ?? []).map((filter) => [filter.query, flags[optionOf(filter).attributeName()]]);
  const query = queryOf(Object.fromEntries(given));
  const client = await connect(flags);
  const { path } = await locate(client, resource, flags);
  const found = await listItems(client, path, countOf(flags["limit"]), query);
  const more = found.next_cursor === null ? [] : [`More: --limit ${countOf(flags["limit"]) * 2}`];
  const isNarrowed = query.size > 0;
  const text =
    found.items.length === 0
      ? [isNarrowed ? `No matching ${resource.name}.` : resource.empty]
      : [...tableLines(resource.columns, found.items), ...more];
  return { json: found, text };
}

async function show(resource: AnyResource, word: string, flags: Flags): Promise<Answer> {
  const client = await connect(flags);
  const placed = await locate(client, resource, flags);
  const found = await findOne(client, placed, word);
  const item = resource.single === false ? found : await client.ask<object>("GET", pathOf(placed, found));
  const shown = await resource.show?.(item, { client, flags });
  if (shown && "json" in shown) return shown;
  return { json: item, text: shown ?? fieldLines(Object.entries(item)) };
}

/** Prints an answer in the form that was asked for. */
export function say({ json }: ServerFlags, answer: Answer, exit: Exit): void {
  if (json) console.log(JSON.stringify(answer.json));
  else if (answer.exact !== undefined && !process.stdout.isTTY) process.stdout.write(answer.exact);
  else for (const line of [answer.text].flat()) console.log(ownColoursOnly(line));
  if (answer.code !== undefined) exit(answer.code);
}
