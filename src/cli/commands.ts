/** Every command, each with its file. */
import type { Command } from "commander";
import { acpCommand } from "./acp/command.ts";
import { adminCommand } from "./admin.ts";
import { activateCommand, backupCommands } from "./backup.ts";
import { chatCommand } from "./chat/chat.ts";
import { checkCommand } from "./check.ts";
import { completionCommand } from "./completion.ts";
import { demoCommand } from "./demo.ts";
import { doctorCommand } from "./doctor.ts";
import { evalCommand } from "./eval/eval.ts";
import { eventsCommand } from "./events.ts";
import { graphCommands } from "./graph.ts";
import { healthCommands } from "./health.ts";
import { imageCommand } from "./image.ts";
import { initCommand } from "./init/init.ts";
import { joinCommand } from "./join.ts";
import { loginCommands } from "./login.ts";
import { mcpCommands } from "./mcp/commands.ts";
import { metricsCommand } from "./metrics.ts";
import { onboardCommand } from "./onboard/onboard.ts";
import { openCommand } from "./open.ts";
import { bareProgram } from "./program.ts";
import { CHANGES_VERBS, changes } from "./resource/changes.ts";
import { resourceCommands, verbCommand } from "./resource/command.ts";
import { RESOURCES } from "./resource/list.ts";
import { RUN_VERBS, runs } from "./resource/runs.ts";
import { runCommand } from "./run.ts";
import { serveCommand } from "./serve.ts";
import { serviceCommands } from "./service/service.ts";
import { settingsCommands } from "./settings.ts";
import { twoFactorCommands } from "./two-factor.ts";
import { updateCommand } from "./update.ts";
import { usageCommand } from "./usage.ts";

/** All commands. `exit` receives the exit code of a command that did not throw. */
export function createProgram(exit: (code: number) => void): Command {
  const program = bareProgram();
  program.commandsGroup("Getting started:");
  initCommand(program, exit);
  serveCommand(program, exit);
  demoCommand(program, exit);
  doctorCommand(program, exit);
  chatCommand(program, exit);
  acpCommand(program, exit);
  onboardCommand(program, exit);

  program.commandsGroup("Runs:");
  runCommand(program, exit);
  evalCommand(program, exit);
  resourceCommands(program, runs, exit);
  for (const verb of RUN_VERBS) verbCommand(program, runs, verb, exit);
  resourceCommands(program, changes, exit);
  for (const verb of CHANGES_VERBS) verbCommand(program, changes, verb, exit);
  eventsCommand(program, exit);
  openCommand(program, exit);
  usageCommand(program, exit);

  program.commandsGroup("Server resources:");
  for (const resource of RESOURCES) resourceCommands(program, resource, exit);
  settingsCommands(program, exit);
  mcpCommands(program, exit);
  program.commandsGroup("Accounts:");
  loginCommands(program);
  twoFactorCommands(program, exit);
  joinCommand(program, exit);
  adminCommand(program);

  program.commandsGroup("This machine:");
  checkCommand(program, exit);
  graphCommands(program);
  imageCommand(program);
  serviceCommands(program, exit);
  healthCommands(program);
  metricsCommand(program);
  backupCommands(program, exit);
  activateCommand(program, exit);
  updateCommand(program, exit);
  completionCommand(program);
  return program;
}
