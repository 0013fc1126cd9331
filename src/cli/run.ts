/**
 * `skep run`: creates a run on the running server and follows it. With --private it starts its own server for the run.
 */
import { type Command, InvalidArgumentError } from "commander";
import { readConfig } from "../core/config.ts";
import { badUsage, isProblem, Problem } from "../core/errors.ts";
import { exitCodeOf, followRun, type RunView } from "./follow/follow.ts";
import { followedLines } from "./follow/report.ts";
import { INTERRUPTED, onInterrupt } from "./interrupt.ts";
import { withFlags } from "./resource/in-flags.ts";
import { type Client, createClient } from "./server/client.ts";
import { tokenFor } from "./server/credentials.ts";
import { connect, type ServerFlags, withServer } from "./server/locate.ts";
import { warnOfStandby } from "./server/standby.ts";
import { startServer } from "./server/start.ts";

interface RunFlags extends ServerFlags {
  project?: string;
  model?: string;
  context?: string;
  input: Record<string, string>;
  budget?: string;
  follow?: boolean;
  private?: boolean;
  text?: boolean;
}

const keyValue = (pair: string, all: Record<string, string>): Record<string, string> => {
  const at = pair.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It takes NAME=VALUE.");
  return { ...all, [pair.slice(0, at)]: pair.slice(at + 1) };
};

export function runCommand(program: Command, exit: (code: number) => void): void {
  const command = withServer(program.command("run"))
    .description("run a pipeline on the server; with --follow, show the run until it ends")
    .argument("<pipeline>", "id of the pipeline, e.g. hello")
    .argument("<task>", "task: what the agents are to do")
    .option("--project <project>", "project to work in")
    .option("--model <provider/model>", "model for every step")
    .option("--context <text>", "extra guidance for the agents")
    .option("--input <name=value>", "value of one of the pipeline's inputs; repeatable", keyValue, {})
    .option("--budget <usd>", "most that the run may cost, in USD")
    .option("--follow", "show steps, tool calls and cost until the run ends")
    .option("--text", "when following, print everything that agents write, also above the live tree")
    .option("--no-text", "when following, do not print what agents write")
    .option("--private", "start a server on the data folder for this run, and stop it when the run ends")
    .addHelpText(
      "after",
      "\nExit code: 0 succeeded, 1 failed, 2 wrong use, 3 cancelled, 130 left with Ctrl-C.\nAfter Ctrl-C, the run continues on the server; a --private run is cancelled.",
    )
    .action(async (pipeline: string, task: string, flags: RunFlags) =>
      exit(await withFlags(command, () => run(pipeline, task, flags))),
    );
}

interface Joined {
  client: Client;
  /** Stops the server if this command started it. */
  stop?: () => Promise<void>;
}

async function join(flags: RunFlags): Promise<Joined> {
  if (!flags.private) return { client: await connect(flags).catch(offerPrivate) };
  if (flags.url) throw badUsage("--private starts a server; --url names one. Give one of them.");
  const config = readConfig({ LOG_LEVEL: "error", ...process.env }, { data: flags.data, host: "127.0.0.1", port: "0" });
  const { app, stop } = await startServer(config);
  return { client: createClient(app.url, tokenFor(app.url), config.data), stop };
}

function offerPrivate(error: unknown): never {
  if (!isProblem(error) || error.code !== "no_server" || !/skep serve/.test(error.detail)) throw error;
  throw new Problem(error.status, error.code, `${error.detail}. For this run alone: skep run --private …`);
}

/** Creates the run. The server's error does not repeat the unknown name, so the name is added here. */
function create(client: Client, pipeline: string, task: string, flags: RunFlags): Promise<RunView> {
  // The variable of a script may be unset. Without its project, the run would work in an empty folder.
  for (const name of ["project", "model"] as const)
    if (flags[name]?.trim() === "") throw badUsage(`--${name} is empty. Name one, or leave the flag out.`);
  const body = {
    pipeline_id: pipeline,
    task_description: task,
    human_context: flags.context,
    project_name: flags.project,
    model: flags.model,
    inputs: flags.input,
    ...(flags.budget === undefined ? {} : { budget_usd: Number(flags.budget) }),
  };
  return client.call("POST", "/v1/runs", body).catch((error) => {
    if (!isProblem(error) || error.status !== 404) throw error;
    const named = error.detail
      .replace("no such pipeline.", `no pipeline ${pipeline}.`)
      .replace("no such project.", `no project ${flags.project}.`);
    const list = /no pipeline/.test(named) ? "pipelines" : "projects";
    throw new Problem(404, error.code, `${named} List them with: skep ${list}`);
  });
}

async function run(pipeline: string, task: string, flags: RunFlags): Promise<number> {
  const { client, stop } = await join(flags);
  try {
    const created = await create(client, pipeline, task, flags);
    if (!flags.follow && !stop) {
      await warnOfStandby(client);
      console.log(
        flags.json ? JSON.stringify(created) : `${created.id}\nfollow it with: skep runs ${created.id} --follow`,
      );
      return 0;
    }
    const interrupt = onInterrupt(client, created.id, stop !== undefined);
    const options = { json: flags.json ?? false, text: flags.text };
    const ended = await followRun(client, created.id, options, interrupt.signal);
    interrupt.stopListening();
    const lines = options.json ? [JSON.stringify(ended)] : await followedLines(ended, client, stop !== undefined);
    console.log(lines.join("\n"));
    return interrupt.asked ? INTERRUPTED : exitCodeOf(ended.status);
  } finally {
    await stop?.();
  }
}
