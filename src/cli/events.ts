/** `skep events`: follows what happens on the server. */
import type { Command } from "commander";
import type { SkepEvent } from "../core/events.ts";
import { INTERRUPTED, stopAtInterrupt } from "./interrupt.ts";
import { findOne, queryOf } from "./resource/find.ts";
import { runs } from "./resource/runs.ts";
import { connect, type ServerFlags, withServer } from "./server/locate.ts";
import { countColumns, fit, oneLine, paint } from "./terminal/style.ts";

interface EventFlags extends ServerFlags {
  run?: string;
  agent?: string;
  session?: string;
  kinds?: string;
  after?: string;
}

export function eventsCommand(program: Command, exit: (code: number) => void): void {
  withServer(program.command("events"))
    .description("print events of the server as they happen, until Ctrl-C; with --run, until that run ends")
    .option("--run <run>", "only events of this run, from its start")
    .option("--agent <agent>", "only events of this agent")
    .option("--session <id>", "only events of this session")
    .option("--kinds <kinds>", "only events of these kinds, separated by commas")
    .option("--after <id>", "only events after the one with this id")
    .action(async (flags: EventFlags) => exit(await follow(flags)));
}

async function follow(flags: EventFlags): Promise<number> {
  const client = await connect(flags);
  const { agent, session, kinds, after } = flags;
  const run_id = flags.run !== undefined ? (await findOne(client, runs, flags.run)).id : undefined;
  const query = queryOf({ run_id, agent_id: agent, session_id: session, kinds, after });
  const stop = stopAtInterrupt();
  for await (const event of client.events(`/v1/events/stream?${query}`, stop.signal))
    console.log(flags.json ? JSON.stringify(event) : lineOf(event));
  return stop.signal.aborted ? INTERRUPTED : 0;
}

function lineOf({ at, kind, run_id, step_id, agent_id, data }: SkepEvent): string {
  const who = [run_id?.slice(-8), step_id, agent_id].filter(Boolean).join(" ");
  const time = at ? new Date(at).toTimeString().slice(0, 8) : "        ";
  return fit(
    `${paint("dim", time)} ${paint("cyan", kind)} ${who} ${paint("dim", oneLine(JSON.stringify(data)))}`,
    countColumns(),
  );
}
