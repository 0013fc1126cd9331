/** `skep run`: creates a run on the running server, or on one of its own for as long as the run takes; follows it. */
import { type Command, InvalidArgumentError } from "commander";
import { readConfig } from "../core/config.ts";
import { type Client, createClient, tokenFor } from "./client.ts";
import { exitCodeOf, followRun, hasEnded, type RunView } from "./follow.ts";
import { INTERRUPTED, onInterrupt } from "./interrupt.ts";
import { runningServer, startServer } from "./start.ts";

interface RunFlags {
  project?: string;
  model?: string;
  context?: string;
  input: Record<string, string>;
  follow?: boolean;
  text: boolean;
  url?: string;
  data?: string;
  json?: boolean;
}

const keyValue = (pair: string, all: Record<string, string>): Record<string, string> => {
  const at = pair.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It takes NAME=VALUE.");
  return { ...all, [pair.slice(0, at)]: pair.slice(at + 1) };
};

export function runCommand(program: Command, exit: (code: number) => void): void {
  program
    .command("run")
    .description("run a pipeline and follow it; starts a server for it when none runs here")
    .argument("<pipeline>", "id of the pipeline, e.g. hello")
    .argument("<task>", "what is to be done")
    .option("--project <name>", "project to work in")
    .option("--model <provider/model>", "model for every step")
    .option("--context <text>", "extra guidance")
    .option("--input <name=value>", "an input of the pipeline; repeatable", keyValue, {})
    .option("--follow", "show steps, tool calls and cost as they come")
    .option("--no-text", "hide what agents write")
    .option("--url <url>", "server to use [SKEP_URL]")
    .option("--data <dir>", "data folder [DATA]")
    .option("--json", "one JSON line per event, the run last")
    .addHelpText(
      "after",
      "\nExit code: 0 succeeded, 1 failed, 2 wrong use, 3 cancelled, 130 left with Ctrl-C.\nCtrl-C leaves a run on a server that runs anyway; it cancels a run whose server was started for it.",
    )
    .action(async (pipeline: string, task: string, flags: RunFlags) => exit(await run(pipeline, task, flags)));
}

/** A client of the running server, or of one started here. */
export async function joinOrStart(flags: {
  url?: string;
  data?: string;
}): Promise<{ client: Client; stop: (() => Promise<void>) | undefined }> {
  const config = readConfig(process.env, flags.data === undefined ? {} : { data: flags.data });
  const url = flags.url ?? process.env["SKEP_URL"] ?? (await runningServer(config.data))?.url;
  if (url) return { client: createClient(url.replace(/\/+$/, ""), tokenFor(url)), stop: undefined };
  const { app, stop } = await startServer(
    readConfig({ LOG_LEVEL: "error", ...process.env }, { data: config.data, host: "127.0.0.1", port: "0" }),
  );
  return { client: createClient(app.url, tokenFor(app.url)), stop };
}

async function run(pipeline: string, task: string, flags: RunFlags): Promise<number> {
  const { client, stop } = await joinOrStart(flags);
  try {
    const created = await client.call<RunView>("POST", "/v1/runs", {
      pipeline_id: pipeline,
      task_description: task,
      human_context: flags.context,
      project_name: flags.project,
      model: flags.model,
      inputs: flags.input,
    });
    if (!flags.follow && !stop) {
      console.log(
        flags.json ? JSON.stringify(created) : `${created.id}\nfollow it with: skep runs ${created.id} --follow`,
      );
      return 0;
    }
    const interrupt = onInterrupt(client, created.id, stop !== undefined);
    const options = { json: flags.json ?? false, text: flags.text };
    const ended = await followRun(client, created.id, options, interrupt.signal);
    interrupt.done();
    report(ended, options.json, stop !== undefined);
    return interrupt.asked ? INTERRUPTED : exitCodeOf(ended.status);
  } finally {
    await stop?.();
  }
}

/** The end of a run in words, or as a JSON line. */
export function report(run: RunView, json: boolean, ownServer: boolean): void {
  console.log(json ? JSON.stringify(run) : reportLines(run, ownServer).join("\n"));
}

function reportLines(run: RunView, ownServer: boolean): string[] {
  if (!hasEnded(run))
    return [
      `left ${run.id} ${run.status}; ${ownServer ? "it goes on when a server starts on this data folder" : "it goes on"}`,
    ];
  const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  return [
    `${run.status}: ${run.id}${run.branch ? ` on branch ${run.branch}` : ""}`,
    ...(run.error ? [`  ${run.error.step_id ? `${run.error.step_id}: ` : ""}${run.error.message}`] : []),
    ...Object.entries(run.outputs).map(([name, value]) => `  ${name}: ${shown(value)}`),
    `  cost: $${run.cost_usd.toFixed(4)}, ${run.tokens} tokens`,
  ];
}
