/** The command line: one file a command. A wrong use or an expected failure is one line with the remedy. */
import { Command, CommanderError } from "commander";
import { isProblem } from "../core/errors.ts";
import { didYouMean } from "../core/near.ts";
import { BUILD } from "../core/version.ts";
import { adminCommand } from "./admin.ts";
import { backupCommands } from "./backup.ts";
import { chatCommand } from "./chat/chat.ts";
import { checkCommand } from "./check.ts";
import { completionCommand } from "./completion.ts";
import { demoCommand } from "./demo.ts";
import { doctorCommand } from "./doctor.ts";
import { eventsCommand } from "./events.ts";
import { failureText } from "./failure.ts";
import { graphCommands } from "./graph.ts";
import { healthCommands } from "./health.ts";
import { imageCommand } from "./image.ts";
import { initCommand } from "./init/init.ts";
import { loginCommands } from "./login.ts";
import { mcpCommands } from "./mcp/commands.ts";
import { onboardCommand } from "./onboard/onboard.ts";
import { openCommand } from "./open.ts";
import { overview } from "./overview.ts";
import { resourceCommands, verbCommand } from "./resource/command.ts";
import { RESOURCES } from "./resource/list.ts";
import { RUN_VERBS, runs } from "./resource/runs.ts";
import { runCommand } from "./run.ts";
import { serveCommand } from "./serve.ts";
import { settingsCommands } from "./settings.ts";
import { twoFactorCommands } from "./two-factor.ts";
import { updateCommand } from "./update.ts";
import { usageCommand } from "./usage.ts";

const bareProgram = (): Command =>
  new Command("skep")
    .description("A team of AI agents in one file.")
    .version(BUILD.version, "-v, --version")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "skep: ")) });

/** The server, and the version, without the other commands: making those takes a good part of the time to start. */
function shortProgram(exit: (code: number) => void): Command {
  const program = bareProgram();
  serveCommand(program, exit);
  return program;
}
const SHORT = /^(serve|-v|--version)$/;

/** All commands. `exit` receives the exit code of a command that did not throw. */
export function createProgram(exit: (code: number) => void): Command {
  const program = bareProgram();
  program.commandsGroup("Begin:");
  initCommand(program, exit);
  serveCommand(program, exit);
  demoCommand(program, exit);
  doctorCommand(program, exit);
  chatCommand(program, exit);
  onboardCommand(program, exit);

  program.commandsGroup("Runs:");
  runCommand(program, exit);
  resourceCommands(program, runs, exit);
  for (const verb of RUN_VERBS) verbCommand(program, runs, verb, exit);
  eventsCommand(program, exit);
  openCommand(program, exit);
  usageCommand(program, exit);

  program.commandsGroup("What the server keeps:");
  for (const resource of RESOURCES) resourceCommands(program, resource, exit);
  settingsCommands(program, exit);
  mcpCommands(program, exit);
  program.commandsGroup("Accounts:");
  loginCommands(program);
  twoFactorCommands(program, exit);
  adminCommand(program);

  program.commandsGroup("This machine:");
  checkCommand(program, exit);
  graphCommands(program);
  imageCommand(program);
  healthCommands(program);
  backupCommands(program, exit);
  updateCommand(program, exit);
  completionCommand(program);
  return program;
}

/** @returns the exit code: 0 done, 1 failed, 2 wrong use. */
export async function runCli(args: string[]): Promise<number> {
  let code = 0;
  const [first] = args;
  const program = (SHORT.test(first ?? "") ? shortProgram : createProgram)((value) => {
    code = value;
  });
  const known = (name: string) => name === "help" || program.commands.some((one) => one.name() === name);
  if (first !== undefined && !first.startsWith("-") && !known(first)) {
    const near = didYouMean(
      first,
      program.commands.map((one) => one.name()),
    );
    console.error(`skep: there is no command '${first}'. ${near ? `${near} ` : ""}See: skep help`);
    return 2;
  }
  try {
    if (first === undefined) console.log((await overview()).join("\n"));
    else await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    console.error(failureText(error));
    return isProblem(error) && /^bad_(configuration|usage)$/.test(error.code) ? 2 : 1;
  }
}
