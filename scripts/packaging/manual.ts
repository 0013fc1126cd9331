/** Generates the manual page skep(1) from the commands' own descriptions. */
import type { Command, Option } from "commander";
import { createProgram } from "../../src/cli/commands.ts";
import { describeConfig, readConfig } from "../../src/core/config.ts";

/** Escapes text for roff. */
const escapeRoff = (text: string): string =>
  text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("'", "\\(aq").replace(/^\./gm, "\\&.");

const isHidden = (command: Command): boolean => (command as unknown as { _hidden: boolean })._hidden;

/** All commands without subcommands, with their complete names. */
function* leaves(command: Command, path: string): Generator<[string, Command]> {
  const children = command.commands.filter((child) => !isHidden(child) && child.name() !== "help");
  if (children.length === 0) yield [path, command];
  for (const child of children) yield* leaves(child, `${path} ${child.name()}`);
}

function optionLines(option: Option): string[] {
  return [".TP", `.B ${escapeRoff(option.flags)}`, escapeRoff(option.description)];
}

/** @param released date of the release, `YYYY-MM-DD`. */
export function manualPage(version: string, released: string): string {
  const program = createProgram(() => {});
  const lines = [
    `.TH SKEP 1 "${released}" "Skep ${version}" "User commands"`,
    ".SH NAME",
    "skep \\- a team of AI agents in one file",
    ".SH SYNOPSIS",
    ".B skep",
    "COMMAND [OPTIONS]",
    ".SH DESCRIPTION",
    "Skep is a server that runs pipelines of AI agents in locked-down containers, and the",
    "commands that speak to it.",
    "Begin with",
    ".B skep init",
    "and",
    '.BR "skep serve" .',
    ".SH COMMANDS",
  ];
  for (const [path, command] of leaves(program, "skep")) {
    const usage = command.usage().replace("[options] ", "").replace("[options]", "");
    lines.push(`.SS ${escapeRoff(`${path} ${usage}`.trim())}`, escapeRoff(command.description()));
    for (const option of command.options) if (!option.hidden) lines.push(...optionLines(option));
  }
  lines.push(".SH ENVIRONMENT", "Settings of the server; each is a flag of", ".B skep serve", "too.");
  for (const { option, about } of describeConfig(readConfig({}, {})))
    lines.push(".TP", `.B ${escapeRoff(option)}`, escapeRoff(about));
  lines.push(
    ".SH FILES",
    ".TP",
    ".I /var/lib/skep",
    "data of the service",
    ".TP",
    ".I /etc/skep.env",
    "its settings",
    ".SH EXIT STATUS",
    "0 when all went well, 1 when not, 2 for wrong use.",
  );
  return `${lines.join("\n")}\n`;
}
