/** The program without its commands. */
import { Command, type ErrorOptions } from "commander";
import { BUILD } from "../core/version.ts";

/** A command whose complaints about its arguments end with where its help is. */
class HelpfulCommand extends Command {
  override createCommand(name?: string): Command {
    return new HelpfulCommand(name);
  }

  override error(message: string, options?: ErrorOptions): never {
    const names: string[] = [];
    for (let at: Command | null = this; at; at = at.parent) names.unshift(at.name());
    const said = inOneLine(message).replace(/[^.?]$/, "$&.");
    return super.error(`${said} See: ${names.join(" ")} --help`, options);
  }
}

export const bareProgram = (): Command =>
  new HelpfulCommand("skep")
    .description("A team of AI agents in one file.")
    .version(BUILD.version, "-v, --version")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "skep: ")) });

/** A message without the line break before its hint in brackets. */
function inOneLine(message: string): string {
  const at = message.lastIndexOf("\n");
  const hint = message.slice(at + 1).trim();
  if (at === -1 || !hint.startsWith("(") || !hint.endsWith(")")) return message;
  return `${message.slice(0, at).trimEnd()}. ${hint.slice(1, -1)}`;
}
