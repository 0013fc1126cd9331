/** `skep metrics`: the server's numbers for Prometheus, and the files that Grafana and Prometheus read them with. */
import type { Command } from "commander";
import alerts from "../../docs/monitoring/skep-alerts.yml" with { type: "text" };
import dashboard from "../../docs/monitoring/skep-dashboard.json";
import { connect, type ServerFlags, withServer } from "./server/locate.ts";

export function metricsCommand(program: Command): void {
  const metrics = withServer(program.command("metrics"))
    .description("the server's numbers for Prometheus, and files for Grafana")
    .action(async (flags: ServerFlags) => {
      const client = await connect(flags);
      process.stdout.write(await client.text("/metrics"));
    });
  metrics
    .command("dashboard")
    .description("print a Grafana dashboard (JSON) of these numbers")
    .action(() => console.log(JSON.stringify(dashboard, null, 2)));
  metrics
    .command("alerts")
    .description("print alert rules for Prometheus (YAML)")
    .action(() => {
      process.stdout.write(alerts);
    });
}
