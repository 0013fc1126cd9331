/** `skep metrics`: the server's metrics for Prometheus, and configuration files for Grafana and Prometheus. */
import type { Command } from "commander";
import alerts from "../../docs/monitoring/skep-alerts.yml" with { type: "text" };
import dashboard from "../../docs/monitoring/skep-dashboard.json";
import { connect, type ServerFlags, withServer } from "./server/locate.ts";

export function metricsCommand(program: Command): void {
  const metrics = withServer(program.command("metrics"))
    .description("print the server's metrics for Prometheus")
    .action(async (flags: ServerFlags) => {
      const client = await connect(flags);
      const text = await client.text("/metrics");
      if (flags.json) console.log(JSON.stringify(seriesOf(text)));
      else process.stdout.write(text);
    });
  metrics
    .command("dashboard")
    .description("print a Grafana dashboard (JSON) for these metrics")
    .action(() => console.log(JSON.stringify(dashboard, null, 2)));
  metrics
    .command("alerts")
    .description("print Prometheus alert rules (YAML) for these metrics")
    .action(() => {
      process.stdout.write(alerts);
    });
}

/** Values by series: `{ "name{label=…}": value }`. */
const seriesOf = (text: string): Record<string, number> =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );
