/** `skep serve`: runs the server until it is stopped. */
import type { Command } from "commander";
import type { App } from "../app.ts";
import { type Config, isLoopback } from "../core/config.ts";
import { BUILD } from "../core/version.ts";
import { addConfigFlags, configFrom } from "./config-flags.ts";
import { formatCommands } from "./overview.ts";
import { startServer } from "./server/start.ts";
import { untilStopped } from "./until-stopped.ts";

export function serveCommand(program: Command, exit: (code: number) => void): void {
  addConfigFlags(program.command("serve").description("run the server")).action(async (flags) => {
    const config = configFrom(flags);
    const { app, stop } = await startServer(config, { listed: true });
    // Listen for signals before printing the address, because a program that reads the address may stop the server at once.
    const stopped = untilStopped();
    console.log(startText(app, config).join("\n"));
    const signal = await stopped;
    console.log(`Stopping (${signal}).`);
    await stop();
    exit(0);
    // Native libraries may keep threads alive. Everything is closed by now, so exit.
    process.exit(0);
  });
}

/** The start message: where the server listens, who may use it, what to do next. */
function startText(app: App, config: Config): string[] {
  const lines = [`Skep ${BUILD.version}`, `Listening on ${app.url}`, `Data in ${config.data}`];
  lines.push(
    config.authRequired
      ? "Credentials are asked for."
      : isLoopback(config.host)
        ? "Credentials are not asked for: only this machine reaches it."
        : "Credentials are NOT asked for, though others may reach it (AUTH_ENABLED=false).",
  );
  if (app.standby)
    lines.push(
      "",
      "Its data is a copy of another instance's: agents, routines, webhooks and notifications wait.",
      `Stop the original, then: skep activate --data ${config.data}`,
    );
  // A server for this machine only has no token to show: its browser needs none.
  if (app.setupToken || (config.authRequired && app.isNew))
    lines.push("", `No administrator yet. Make one: skep admin create --data ${config.data}`);
  if (app.setupToken) lines.push(`Setup token: ${app.setupToken} (the browser asks for it)`);
  if (app.isNew)
    lines.push(
      "",
      "Next, in another terminal:",
      ...formatCommands([
        ["skep init", "set up a model and your repository, and see a first run"],
        ['skep run hello "Greet me" --follow', "a run; demo/scripted plays until a model is set up"],
        ["skep doctor", "what this machine lacks, and how to get it"],
        ["skep open", app.url],
      ]),
    );
  return lines;
}
