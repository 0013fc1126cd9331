/** The program without its commands. */
import { Command, type ErrorOptions } from "commander";
import { nearNames } from "../core/near.ts";
import { BUILD } from "../core/version.ts";

/** A command whose complaints about its arguments end with where its help is. */
class HelpfulCommand extends Command {
  override createCommand(name?: string): Command {
    return new HelpfulCommand(name);
  }

  override error(message: string, options?: ErrorOptions): never {
    const names: string[] = [];
    for (let at: Command | null = this; at; at = at.parent) names.unshift(at.name());
    const [first] = this.args;
    const isVerb = options?.code === "commander.excessArguments" && this.commands.length > 0 && first !== undefined;
    const complaint = isVerb
      ? noSuchCommand(this, names.join(" "), first)
      : `${message}${placeOfMissing(this, options)}`;
    const said = inOneLine(complaint).replace(/[^.?]$/, "$&.");
    return super.error(`${said} See: ${names.join(" ")} --help`, options);
  }
}

export const bareProgram = (): Command =>
  new HelpfulCommand("skep")
    .description("A team of AI agents in one file.")
    .version(BUILD.version, "-v, --version")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "skep: ")) });

/** Words that other programs use for what a command here is called. */
const SYNONYMS = [
  ["add", "create", "new", "set", "upload", "start", "import"],
  ["delete", "remove", "rm", "revoke", "end", "cancel"],
  ["edit", "update", "set", "change"],
];
const SHOW = ["show", "get", "view", "info", "describe", "list", "ls"];

/** "skep tasks add web": commander takes the word for the task to show, and counts too many of them. */
function noSuchCommand(command: Command, called: string, word: string): string {
  const has = (name: string) => command.commands.some((one) => one.name() === name);
  const meant = SYNONYMS.filter((group) => group.includes(word)).flatMap((group) => group.filter(has));
  const isAbove = command.parent?.commands.some((one) => one.name() === word) ?? false;
  const above = isAbove ? [`${command.parent?.name()} ${word}`] : [];
  const near = nearNames(
    word,
    command.commands.map((one) => one.name()),
  );
  const names = [...new Set([...above, ...[...near, ...meant].map((name) => `${called} ${name}`)])];
  const shows = SHOW.includes(word) ? ` It shows one without a word between: ${called} NAME.` : "";
  const hint = names.length > 0 ? ` Did you mean ${names.join(" or ")}?` : shows;
  return `error: there is no command '${called} ${word}'.${hint}`;
}

/** After which arguments a missing one comes: "skep graph context main" takes the symbol for the folder. */
function placeOfMissing({ args, registeredArguments }: Command, options?: ErrorOptions): string {
  if (options?.code !== "commander.missingArgument") return "";
  const before = registeredArguments
    .slice(0, args.length)
    .map((one) => `'${one.name()}'${one.description ? ` (${one.description})` : ""}`);
  return before.length === 0 ? "" : `: it comes after ${before.join(" and ")}`;
}

/** A message without the line break before its hint in brackets. */
function inOneLine(message: string): string {
  const at = message.lastIndexOf("\n");
  const hint = message.slice(at + 1).trim();
  if (at === -1 || !hint.startsWith("(") || !hint.endsWith(")")) return message;
  return `${message.slice(0, at).trimEnd()}. ${hint.slice(1, -1)}`;
}
