/**
 * `skep health`, `skep version`, `skep config`: whether a server answers, which version this is, which settings apply.
 */
import type { Command } from "commander";
import { describeConfig } from "../core/config.ts";
import { BUILD } from "../core/version.ts";
import { addConfigFlags, configFrom } from "./config-flags.ts";
import { connect, type ServerFlags, withServer } from "./server/locate.ts";
import { tableLines } from "./terminal/table.ts";

export function healthCommands(program: Command): void {
  withServer(program.command("health"))
    .description("check whether the server is healthy; exit 1 when it is not (for container health checks)")
    .action(async (flags: ServerFlags) => {
      const client = await connect(flags);
      await client.call("GET", "/readyz");
      const status = await client.call("GET", "/v1/status");
      console.log(flags.json ? JSON.stringify(status) : `${client.url} ${status.status} ${status.version}`);
    });
  program
    .command("version")
    .description("show the version and the build")
    .option("--json", "print JSON instead of text")
    .action(({ json }: { json?: boolean }) => {
      const { version, commit, builtAt, runtime, platform } = BUILD;
      console.log(
        json
          ? JSON.stringify({ version, commit, built_at: builtAt, runtime, platform })
          : `skep ${version} (${commit}, ${runtime}, ${platform})`,
      );
    });
  addConfigFlags(
    program.command("config").description("show the configuration in force, and where each value comes from"),
  )
    .option("--json", "print JSON instead of text")
    .action((flags: { json?: boolean }) => {
      const rows = describeConfig(configFrom(flags));
      if (flags.json) return console.log(JSON.stringify(rows));
      const lines = tableLines(
        [
          { head: "OPTION", of: ({ option }) => option },
          { head: "VALUE", of: ({ value }) => value, shrinks: true },
          { head: "FROM", of: ({ source }) => source },
          { head: "WHAT IT DOES", of: ({ about }) => about, shrinks: true },
        ],
        rows,
      );
      console.log(lines.join("\n"));
    });
}
