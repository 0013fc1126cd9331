/** `skep serve`: runs the appliance until it is told to stop. */
import type { Command } from "commander";
import { createApp } from "../app.ts";
import { BUILD } from "../core/version.ts";
import { addConfigFlags, configFrom } from "./config-flags.ts";

export function serveCommand(program: Command, exit: (code: number) => void): void {
  addConfigFlags(program.command("serve", { isDefault: true }).description("run the server (default)")).action(
    async (flags) => {
      const config = configFrom(flags);
      const app = await createApp(config);
      const lines = [`Skep ${BUILD.version}`, `Listening on ${app.url}`, `Data in ${config.data}`];
      lines.push(
        config.authRequired ? "Credentials are asked for." : "Credentials are not asked for: this machine only.",
      );
      if (app.setupToken)
        lines.push(
          "",
          `No administrator yet. Setup token: ${app.setupToken}`,
          "Use it in the browser, or: skep admin create",
        );
      if (app.isNew) lines.push("", 'Next: open the address above, or try: skep run hello "Greet this repository"');
      console.log(lines.join("\n"));
      const signal = await new Promise<NodeJS.Signals>((resolve) => {
        for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => resolve(name));
      });
      console.log(`Stopping (${signal}).`);
      await app.stop();
      exit(0);
      // Native parts may keep threads; everything is closed, so leave.
      process.exit(0);
    },
  );
}
