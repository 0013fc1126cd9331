/** `skep health`, `skep version`, `skep config`: whether a server answers, what this is, what is in force. */
import type { Command } from "commander";
import { describeConfig, readConfig } from "../core/config.ts";
import { BUILD } from "../core/version.ts";
import { findServer } from "./client.ts";
import { addConfigFlags, configFrom } from "./config-flags.ts";

export function healthCommands(program: Command): void {
  program
    .command("health")
    .description("ask the server whether it is well; exit 1 when it is not (for container health checks)")
    .option("--url <url>", "server to use [SKEP_URL]")
    .option("--data <dir>", "data folder [DATA]")
    .option("--json", "JSON instead of words")
    .action(async ({ url, data, json }: { url?: string; data?: string; json?: boolean }) => {
      const client = await findServer({ url, data: readConfig(process.env, data === undefined ? {} : { data }).data });
      await client.call("GET", "/readyz");
      const status = await client.call<{ status: string; version: string }>("GET", "/v1/status");
      console.log(json ? JSON.stringify(status) : `${client.url} ${status.status} ${status.version}`);
    });
  program
    .command("version")
    .description("what this build is")
    .option("--json", "JSON instead of words")
    .action(({ json }: { json?: boolean }) => {
      const { version, commit, builtAt, runtime, platform } = BUILD;
      console.log(
        json
          ? JSON.stringify({ version, commit, built_at: builtAt, runtime, platform })
          : `skep ${version} (${commit}, ${runtime}, ${platform})`,
      );
    });
  addConfigFlags(program.command("config").description("show the configuration in force, and where from"))
    .option("--json", "JSON instead of words")
    .action((flags: { json?: boolean }) => {
      const rows = describeConfig(configFrom(flags));
      if (flags.json) return console.log(JSON.stringify(rows));
      for (const { option, value, source, about } of rows)
        console.log(`${option.padEnd(26)} ${value.padEnd(28)} ${source.padEnd(12)} ${about}`);
    });
}
