/** The command line: one file a command. A wrong use or an expected failure is one line with the remedy. */
import { Command, CommanderError } from "commander";
import { isProblem } from "../core/errors.ts";
import { BUILD } from "../core/version.ts";
import { adminCommand } from "./admin.ts";
import { completionCommand } from "./completion.ts";
import { demoCommand } from "./demo.ts";
import { doctorCommand } from "./doctor.ts";
import { failureText } from "./failure.ts";
import { graphCommands } from "./graph.ts";
import { healthCommands } from "./health.ts";
import { imageCommand } from "./image.ts";
import { loginCommands } from "./login.ts";
import { providersCommand } from "./providers.ts";
import { runCommand } from "./run.ts";
import { runsCommand } from "./runs.ts";
import { serveCommand } from "./serve.ts";
import { updateCommand } from "./update.ts";
import { usageCommand } from "./usage.ts";
import { usersCommand } from "./users.ts";

/** All commands. `exit` hears the exit code of one that did not fail by throwing. */
export function createProgram(exit: (code: number) => void): Command {
  const program = new Command("skep")
    .description("A team of AI agents in one file.")
    .version(BUILD.version, "-v, --version")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "skep: ")) });
  serveCommand(program, exit);
  demoCommand(program, exit);
  runCommand(program, exit);
  runsCommand(program, exit);
  graphCommands(program);
  healthCommands(program);
  doctorCommand(program, exit);
  imageCommand(program);
  completionCommand(program);
  adminCommand(program);
  loginCommands(program);
  usersCommand(program);
  providersCommand(program, exit);
  usageCommand(program, exit);
  updateCommand(program, exit);
  return program;
}

/** @returns the exit code: 0 done, 1 failed, 2 wrong use. */
export async function runCli(args: string[]): Promise<number> {
  let code = 0;
  const program = createProgram((value) => {
    code = value;
  });
  const [first] = args;
  const known = (name: string) => name === "help" || program.commands.some((one) => one.name() === name);
  // Without this, `serve` would take it for an argument of its own, since it is the default.
  if (first !== undefined && !first.startsWith("-") && !known(first)) {
    console.error(`skep: there is no command '${first}'. See: skep help`);
    return 2;
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    console.error(failureText(error));
    return isProblem(error) && /^bad_(configuration|usage)$/.test(error.code) ? 2 : 1;
  }
}
