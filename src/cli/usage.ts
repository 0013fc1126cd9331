/** `skep usage`: what was spent on what, and what is left of the budgets. */

import { type Command, Option } from "commander";
import type { AnswerOf } from "../api/types.ts";
import { queryOf } from "./resource/find.ts";
import { connect, type ServerFlags, withServer } from "./server/locate.ts";
import { costText, shortCostText, tableLines } from "./terminal/table.ts";
import { diskCommand } from "./usage-disk.ts";

interface Flags extends ServerFlags {
  from?: string;
  to?: string;
  user?: string;
  by: "provider" | "model" | "agent" | "hour" | "day" | "month";
}

type UsageView = AnswerOf<"GET", "/v1/usage">;
type Totals = UsageView["totals"];

export function usageCommand(program: Command, exit: (code: number) => void): void {
  const usage = withServer(program.command("usage"));
  diskCommand(usage, exit);
  usage
    .description("show what model calls cost, and what is spent of the budgets")
    .option("--from <time>", "start of the period: a day or an RFC 3339 time (default: start of this month)")
    .option("--to <time>", "end of the period, itself left out: a day or an RFC 3339 time")
    .option("--user <id>", "id of another user, or `all` (administrators only)")
    .addOption(
      new Option("--by <what>", "how to break down the cost")
        .choices(["provider", "model", "agent", "user", "hour", "day", "month"])
        .default("model"),
    )
    .action(async (flags: Flags) => {
      const { by, json } = flags;
      const client = await connect(flags);
      const query = queryOf({ from: flags.from, to: flags.to, user_id: flags.user });
      if (by === "hour" || by === "day" || by === "month") {
        query.set("granularity", by);
        const history = await client.call("GET", `/v1/usage/history?${query}`);
        if (json) return console.log(JSON.stringify(history.items));
        const length = { hour: 16, day: 10, month: 7 }[by];
        return print(history.items.map((bucket) => [bucket.start_at.slice(0, length).replace("T", " "), bucket]));
      }
      const usage = await client.call("GET", `/v1/usage?${query}`);
      if (json) return console.log(JSON.stringify(usage));
      report(usage, by);
    });
}

function report(usage: UsageView, by: "provider" | "model" | "agent" | "user"): void {
  const rows: [string, Totals][] = {
    provider: () => usage.by_provider.map((row): [string, Totals] => [row.provider, row]),
    model: () => usage.by_model.map((row): [string, Totals] => [row.model, row]),
    agent: () => usage.by_agent.map((row): [string, Totals] => [row.agent_id, row]),
    user: () => usage.by_user.map((row): [string, Totals] => [row.user_id ?? "nobody", row]),
  }[by]();
  console.log(`${usage.from.slice(0, 10)} to ${usage.to.slice(0, 10)} (UTC)`);
  print([...rows, ["total", usage.totals]]);
  const { until, spent_usd: spent, expected_usd } = usage.forecast;
  console.log(`this month: ${costText(spent)} so far, about ${costText(expected_usd)} by ${until.slice(0, 10)}`);
  for (const { scope, limit_usd, spent_usd, percent, resets_at } of usage.budgets) {
    const reset = resets_at === null ? "" : `, resets ${resets_at.slice(0, 10)}`;
    console.log(`budget ${scope.replace("_", " ")}: $${spent_usd.toFixed(2)} of $${limit_usd} (${percent} %)${reset}`);
  }
}

function print(rows: readonly (readonly [string, Totals])[]): void {
  const lines = tableLines(
    [
      { head: "", of: ([name]) => name },
      { head: "CALLS", of: ([, { calls }]) => calls, right: true },
      { head: "FAILED", of: ([, { errors }]) => errors || "", right: true },
      { head: "TOKENS IN", of: ([, { input_tokens }]) => input_tokens, right: true },
      { head: "OUT", of: ([, { output_tokens }]) => output_tokens, right: true },
      { head: "COST", of: ([, totals]) => shortCostText(totals), right: true },
      { head: "WITHOUT A PRICE", of: ([, { calls_without_price }]) => calls_without_price || "", right: true },
    ],
    rows,
  );
  console.log(lines.join("\n"));
}
