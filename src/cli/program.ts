/** The program without its commands. */
import { Command, type ErrorOptions } from "commander";
import { nearNames } from "../core/near.ts";
import { BUILD } from "../core/version.ts";

/** A command whose errors about arguments end with where to find its help. */
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

/** Groups of synonyms: other programs may use another word for a command here. */
const SYNONYMS = [
  ["add", "create", "new", "set", "upload", "start", "import"],
  ["delete", "remove", "rm", "revoke", "end", "cancel"],
  ["edit", "update", "set", "change"],
];
const SHOW = ["show", "get", "view", "info", "describe", "list", "ls"];

/**
 * The error for an unknown command, with a suggestion. Without it, commander reads "skep tasks add web" as showing the
 * task `add` with too many arguments.
 */
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

/**
 * Says after which arguments a missing one comes. In "skep graph context main", `main` was read as the folder, so the
 * symbol is missing.
 */
function placeOfMissing({ args, registeredArguments }: Command, options?: ErrorOptions): string {
  if (options?.code !== "commander.missingArgument") return "";
  const before = registeredArguments
    .slice(0, args.length)
    .map((one) => `'${one.name()}'${one.description ? ` (${one.description})` : ""}`);
  return before.length === 0 ? "" : `: it comes after ${before.join(" and ")}`;
}

/** Puts a message and its hint in brackets on one line. */
function inOneLine(message: string): string {
  const at = message.lastIndexOf("\n");
  const hint = message.slice(at + 1).trim();
  if (at === -1 || !hint.startsWith("(") || !hint.endsWith(")")) return message;
  return `${message.slice(0, at).trimEnd()}. ${hint.slice(1, -1)}`;
}
