/** Refusals of the server in the words of the command line: a flag rather than the member of the body that it became. */
import type { Command } from "commander";
import { isProblem, Problem } from "../../core/errors.ts";

/** Members of bodies whose flags have another name; a flag counts where the command has it. */
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

/** Flags of every command: no member of a body becomes of them. */
const OF_THE_SERVER = ["--url", "--data", "--json"];

/** Does that for the command; what is refused meanwhile names its flags. */
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
  // Below a member is its place in a list, or a name of its own.
  const said = detail.replace(/^( *)([a-z_]+)((?:\.[^\s:]+)*)(?=:? )/gm, (whole, indent, member, below) => {
    const flag = flagOf(member);
    if (flag === undefined) return whole;
    const own = below.replace(/^\.(\d+(\..*)?$)?/, "");
    return `${indent}${flag}${own && ` ${own}`}`;
  });
  return new Problem(status, code, said.replace(/ or null(?=[.,]|$)/gm, ""), extras);
}
