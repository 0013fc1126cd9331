/**
 * Completion for shells: commands, flags, words that a flag takes, and names from the server. It is computed here, so
 * that all shells offer the same and none is out of date.
 */
import type { Argument, Command, Option } from "commander";
import { changes } from "./resource/changes.ts";
import { listItems, locate } from "./resource/find.ts";
import { RESOURCES } from "./resource/list.ts";
import type { AnyResource } from "./resource/resource.ts";
import { runs } from "./resource/runs.ts";
import { connect } from "./server/locate.ts";
import { oneLine } from "./terminal/style.ts";

interface Candidate {
  word: string;
  about: string;
}

/** Words, or the kind of path that the shell completes itself. */
export type Candidates = Candidate[] | "files" | "folders";

/** How long a shell waits for names from the server. */
const PATIENCE_MS = 2_000;
const NAMED = 200;
/** Length of the description beside a word. */
const ABOUT_CHARACTERS = 60;

/** @param words everything after the program's name; the last one is being typed. */
export async function complete(program: Command, words: readonly string[]): Promise<Candidates> {
  const typed = words.at(-1) ?? "";
  const { at, positional, open, flags } = walk(program, words.slice(0, -1));
  if (open)
    return filterMatching(await valuesOf(open.argChoices, nameIn(open.flags), open.long === "--data", flags), typed);
  if (typed.startsWith("-")) return filterMatching(flagsOf(at), typed);
  const commands =
    positional === 0
      ? at
          .createHelp()
          .visibleCommands(at)
          .map((one) => ({ word: one.name(), about: one.description() }))
      : [];
  const slot = slotOf(at, positional);
  const values = slot ? await valuesOf(slot.argChoices, slot.name(), false, flags) : [];
  return typeof values === "string" ? values : filterMatching([...commands, ...values], typed);
}

const filterMatching = (found: Candidates, typed: string): Candidates =>
  typeof found === "string" ? found : found.filter(({ word }) => word.startsWith(typed));

interface Walked {
  /** The command that the words lead to. */
  at: Command;
  /** How many positional arguments of the command are already given. */
  positional: number;
  /** A flag whose value comes next. */
  open: Option | undefined;
  /** Values that were given, by the flag's long name. */
  flags: Map<string, string>;
}

function walk(program: Command, words: readonly string[]): Walked {
  const walked: Walked = { at: program, positional: 0, open: undefined, flags: new Map() };
  for (const word of words) {
    if (walked.open) {
      walked.flags.set(walked.open.long ?? "", word);
      walked.open = undefined;
    } else if (word.startsWith("-")) {
      const option = optionsOf(walked.at).find(({ long, short }) => long === word || short === word);
      if (option && (option.required || option.optional)) walked.open = option;
    } else {
      const next = walked.positional === 0 ? walked.at.commands.find((one) => one.name() === word) : undefined;
      if (next) walked.at = next;
      else walked.positional++;
    }
  }
  return walked;
}

/** The options of the command and those of its parents, each once. */
function optionsOf(command: Command): Option[] {
  const above = command.parent ? optionsOf(command.parent) : [];
  const own = command.options.filter(({ hidden }) => !hidden);
  return [...own, ...above.filter(({ long }) => !own.some((one) => one.long === long) && long !== "--version")];
}

const flagsOf = (command: Command): Candidate[] =>
  [...optionsOf(command).map(({ long, description }) => ({ word: long ?? "", about: description })), HELP].filter(
    ({ word }) => word !== "",
  );
const HELP = { word: "--help", about: "display help for the command" };

function slotOf({ registeredArguments: slots }: Command, positional: number): Argument | undefined {
  const last = slots.at(-1);
  return slots[positional] ?? (last?.variadic ? last : undefined);
}

const nameIn = (flags: string): string => /[<[]([^<>[\]]+)[>\]]/.exec(flags)?.[1]?.replace("...", "") ?? "";

async function valuesOf(
  choices: readonly string[] | undefined,
  name: string,
  isData: boolean,
  flags: ReadonlyMap<string, string>,
): Promise<Candidates> {
  if (choices) return choices.map((word) => ({ word, about: "" }));
  if (name === "dir" || isData) return "folders";
  if (name === "file" || name === "path") return "files";
  const resource = [...RESOURCES, runs, changes].find(({ one }) => one === name);
  if (!resource && name !== "provider/model") return [];
  const late = Bun.sleep(PATIENCE_MS).then((): Candidate[] => []);
  // An error message would spoil the command line: if the server cannot be reached, offer nothing.
  return Promise.race([readNames(resource, flags).catch(() => []), late]);
}

/** Names from the server: those of the resource, or of the models if there is no resource. */
async function readNames(resource: AnyResource | undefined, flags: ReadonlyMap<string, string>): Promise<Candidate[]> {
  const client = await connect({ url: flags.get("--url"), data: flags.get("--data") });
  if (!resource) {
    const { items } = await listItems(client, "/v1/models", NAMED);
    return items.map(({ id, name }) => ({ word: id, about: oneLine(name) }));
  }
  const { path } = await locate(client, resource, { project: flags.get("--project") });
  const { items } = await listItems(client, path, NAMED);
  return items.map((item) => {
    const word = resource.namesOf?.(item)[0] ?? resource.idOf(item);
    const about = resource.columns
      .map(({ of }) => oneLine(String(of(item) ?? "")))
      .filter((text) => text && text !== word);
    return { word: oneLine(word), about: about.slice(0, 4).join(" ").slice(0, ABOUT_CHARACTERS) };
  });
}
