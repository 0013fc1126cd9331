/** Rewords the server's refusals for the command line: they name a flag instead of the body's member that it became. */
import type { Command } from "commander";
import { isProblem, Problem } from "../../core/errors.ts";

/** Flags of members that have another name. A flag is used only if the command has it. */
const TYPED: Readonly<Record<string, readonly string[]>> = {
  api_key: ["The key"],
  assigned_agent: ["--agent"],
  blackouts: ["--blackout"],
  budget_usd: ["--budget"],
  default_branch: ["--branch"],
  default_pipeline_id: ["--pipeline"],
  depends_on: ["--depends"],
  display_name: ["--name"],
  estimate_hours: ["--estimate"],
  fetch_before_run: ["--fetch"],
  from_step: ["--from"],
  human_context: ["--context"],
  inputs: ["--input"],
  interval_minutes: ["--every"],
  offset_minutes: ["--offset"],
  pipeline_id: ["--pipeline"],
  schedule: ["--cron"],
  scip_path: ["--scip"],
  scopes: ["--scope"],
  secret_type: ["--type"],
  task_description: ["The task"],
  timeout_ms: ["--timeout"],
  timeout_seconds: ["--timeout"],
  token: ["The token"],
  url: ["--address", "--host-url"],
  work_type: ["--type"],
};

/** Flags that every command has. They never become a member of a body. */
const OF_THE_SERVER = ["--url", "--data", "--json"];

/** Runs a command's action. Refusals that it throws name the command's flags. */
export async function withFlags<T>(command: Command, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw isProblem(error) ? inFlags(error, command) : error;
  }
}

function inFlags({ status, code, detail, extras }: Problem, { options }: Command): Problem {
  const longs = options.map(({ long }) => long).filter((long) => !OF_THE_SERVER.includes(long ?? ""));
  const flagOf = (member: string): string | undefined =>
    [`--${member.replaceAll("_", "-")}`, ...(TYPED[member] ?? [])].find(
      (name) => longs.includes(name) || !name.startsWith("--"),
    );
  // A member may be followed by a position in a list, which is dropped, or by a name, which is kept.
  const said = detail.replace(/^( *)([a-z_]+)((?:\.[^\s:.]+)*)(?=:? )/gm, (whole, indent, member, below) => {
    const flag = flagOf(member);
    if (flag === undefined) return whole;
    const own = below.replace(/^\.(\d+(\..*)?$)?/, "");
    return `${indent}${flag}${own && ` ${own}`}`;
  });
  return new Problem(status, code, said.replace(/ or null(?=[.,]|$)/gm, ""), extras);
}
