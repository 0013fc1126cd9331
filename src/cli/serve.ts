/** `skep serve`: runs the appliance until it is told to stop. */
import type { Command } from "commander";
import type { App } from "../app.ts";
import { type Config, isLoopback } from "../core/config.ts";
import { BUILD } from "../core/version.ts";
import { addConfigFlags, configFrom } from "./config-flags.ts";
import { startServer } from "./server/start.ts";

export function serveCommand(program: Command, exit: (code: number) => void): void {
  addConfigFlags(program.command("serve").description("run the server")).action(async (flags) => {
    const config = configFrom(flags);
    const { app, stop } = await startServer(config, { listed: true });
    // Listened for before anybody is told the address: whoever reads it may stop us at once.
    const told = new Promise<NodeJS.Signals>((resolve) => {
      for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => resolve(name));
    });
    console.log(startText(app, config).join("\n"));
    const signal = await told;
    console.log(`Stopping (${signal}).`);
    await stop();
    exit(0);
    // Native parts may keep threads; everything is closed, so leave.
    process.exit(0);
  });
}

/** What a person sees first: where it is, who may use it, what to do next. */
function startText(app: App, config: Config): string[] {
  const lines = [`Skep ${BUILD.version}`, `Listening on ${app.url}`, `Data in ${config.data}`];
  lines.push(
    config.authRequired
      ? "Credentials are asked for."
      : isLoopback(config.host)
        ? "Credentials are not asked for: only this machine reaches it."
        : "Credentials are NOT asked for, though others may reach it (AUTH_ENABLED=false).",
  );
  if (app.setupToken)
    lines.push(
      "",
      `No administrator yet. Setup token: ${app.setupToken}`,
      `Make one: curl ${app.url}/v1/auth/setup --json '{"email":"you@example.org","password":"…","setup_token":"${app.setupToken}"}'`,
    );
  if (app.isNew)
    lines.push(
      "",
      "Next:",
      `  skep run hello "Greet me" --follow    a first run, with a scripted model unless you name one`,
      "  skep doctor                           what this machine lacks, and how to get it",
      `  ${`${app.url}/docs`.padEnd(36)}  the API`,
    );
  return lines;
}
