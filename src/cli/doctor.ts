/** `skep doctor`: what this machine lacks for a server on this data folder, and how to get it. Exit 1 on a fail. */
import type { Command } from "commander";
import { addConfigFlags, configFrom } from "./config-flags.ts";
import { loadApp } from "./load-app.ts";
import { runningServer } from "./server/server-file.ts";

const MARKS = { ok: "ok   ", warn: "warn ", fail: "FAIL " } as const;

export function doctorCommand(program: Command, exit: (code: number) => void): void {
  addConfigFlags(program.command("doctor").description("look at everything a server needs; say what to do"))
    .option("--limits", "show the bounds of this build, too")
    .option("--json", "JSON instead of words")
    .action(async (flags: { json?: boolean; limits?: boolean }) => {
      const config = configFrom(flags);
      const { openDoctor } = await loadApp();
      const report = await openDoctor(config, () => runningServer(config.data)).examine();
      exit(report.verdict === "fail" ? 1 : 0);
      if (flags.json) return console.log(JSON.stringify(report));
      for (const { check, verdict, detail, remedy } of report.findings) {
        console.log(`${MARKS[verdict]} ${check.padEnd(16)} ${detail}`);
        if (remedy) console.log(`${" ".repeat(23)}→ ${remedy}`);
      }
      if (!flags.limits) return;
      console.log("\nLimits");
      for (const { name, text } of report.limits) console.log(`      ${name.padEnd(28)} ${text}`);
    });
}
