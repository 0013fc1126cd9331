/** `skep check FILE…`: each problem of pipeline, agent and skill files, with file, line and column. Needs no server. */
import type { Command } from "commander";
import { loadApp } from "./load-app.ts";
import { assertPath } from "./read-input.ts";
import { say } from "./resource/command.ts";
import type { ServerFlags } from "./server/locate.ts";
import { paint } from "./terminal/style.ts";
import { formatCount } from "./terminal/table.ts";

export function checkCommand(program: Command, exit: (code: number) => void): void {
  program
    .command("check")
    .description("list the problems in pipeline, agent and skill files; exit 1 when there are any")
    .argument("<file...>", "files to check, or folders of files, e.g. data/agents")
    .option("--json", "print JSON instead of text")
    .action(async (paths: string[], flags: ServerFlags) => {
      paths.forEach(assertPath);
      const files = (await loadApp()).checkFiles(paths);
      const lines = files.flatMap(({ file, problems }) =>
        problems.map(({ line, column, message }) => `${paint("bold", `${file}:${line}:${column}`)}  ${message}`),
      );
      const sum = `${formatCount(files.length, "file")}, ${lines.length === 0 ? "no problem" : formatCount(lines.length, "problem")}`;
      const json = { valid: lines.length === 0, files };
      say(flags, { json, text: [...lines, sum], code: lines.length === 0 ? 0 : 1 }, exit);
    });
}
