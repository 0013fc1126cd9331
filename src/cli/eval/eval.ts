/** `skep eval`: lets agents try the tasks of a folder, and reports how often they pass. */
import type { Command } from "commander";
import type { AnswerOf, BodyOf } from "../../api/types.ts";
import { badUsage, Problem } from "../../core/errors.ts";
import { EVAL_HARNESSES, type EvalHarness } from "../../core/harness-names.ts";
import { LIMITS } from "../../core/limits.ts";
import { ownJson } from "../../core/own-json.ts";
import { INTERRUPTED, stopAtInterrupt } from "../interrupt.ts";
import { readText } from "../read-input.ts";
import { say } from "../resource/command.ts";
import type { Answer } from "../resource/resource.ts";
import { listOf } from "../resource/words.ts";
import type { Client } from "../server/client.ts";
import { connect, type ServerFlags, withServer } from "../server/locate.ts";
import { bytesText } from "../terminal/table.ts";
import { evalLines } from "./lines.ts";
import { shippedTasks } from "./shipped.ts";
import { readTasks, writeTask } from "./task-folder.ts";

type Detail = AnswerOf<"GET", `/v1/evals/${string}`>;

interface EvalFlags extends ServerFlags {
  agent?: string;
  model?: string;
  harness?: string;
  attempts?: string;
  budget?: string;
  parallel?: string;
  name?: string;
  replay?: string;
  oracle?: boolean;
  detach?: boolean;
  minPass?: string;
}

export function evalCommand(program: Command, exit: (code: number) => void): void {
  const command = withServer(program.command("eval"))
    .description("let agents try the tasks of a folder, each in a sandbox, and say how often they pass")
    .argument("<folder>", "a task, or a folder of tasks")
    .option("--agent <a,b>", "agents that try them")
    .option("--model <x,y>", "each agent with each of these models; else its own")
    .option(
      "--harness <a,b>",
      `each agent with each of ${EVAL_HARNESSES.join(", ")} (the command in its file); else its own`,
    )
    .option("-k, --attempts <k>", "attempts of each task", "1")
    .option("--budget <usd>", "what all attempts may cost together")
    .option("--parallel <n>", "attempts at once", "2")
    .option("--name <text>", "what the eval is called; else the folder's name")
    .option("--oracle", "ask no agent: the reference solutions must pass, and doing nothing must fail")
    .option("--replay <file>", "play the replies of this recording instead of asking models")
    .option("--min-pass <share>", "exit 1 where a smaller share of the attempts passes, e.g. 0.8")
    .option("--detach", "do not wait for the end")
    .addHelpText(
      "after",
      "\nExit code: 0 done, 1 tasks of an oracle that prove nothing or a share below --min-pass, 3 cancelled, 130 left with Ctrl-C.\nCtrl-C leaves; the eval continues on the server, also after a restart. See it with: skep evals",
    )
    .action(async (folder: string, flags: EvalFlags) => say(flags, await start(folder, flags), exit));
  withServer(command.command("from-run"))
    .description("make a task of a finished run: where it began, what it was asked, its changes as the solution")
    .argument("<run>", "id of the run")
    .argument("<folder>", "where the task is written")
    .action(async (run: string, folder: string, _: ServerFlags, own: Command) => {
      const flags = own.optsWithGlobals<ServerFlags>();
      say(flags, await fromRun(await connect(flags), run, folder), exit);
    });
  command
    .command("shipped")
    .description("write ten small tasks in five languages into a folder, to begin with")
    .argument("<folder>", "where they are written; it is made")
    .option("--json", "JSON instead of words")
    .action((folder: string, _: ServerFlags, own: Command) => {
      const tasks = shippedTasks();
      for (const task of tasks) writeTask(`${folder}/${task.name}`, task);
      const json = { folder, tasks: tasks.map(({ name }) => name) };
      const text = [`${tasks.length} tasks in ${folder}`, `prove them with: skep eval ${folder} --oracle`];
      say(own.optsWithGlobals<ServerFlags>(), { json, text }, exit);
    });
}

async function start(folder: string, flags: EvalFlags): Promise<Answer> {
  const tasks = readTasks(folder);
  const number = (name: "attempts" | "budget" | "parallel" | "minPass"): number | undefined => {
    const text = flags[name];
    if (text !== undefined && !/^\d+(\.\d+)?$/.test(text)) throw badUsage(`${text} is no number.`);
    return text === undefined ? undefined : Number(text);
  };
  const minPass = number("minPass");
  const body: BodyOf<"POST", "/v1/evals"> = {
    name: flags.name ?? folder,
    tasks,
    attempts: number("attempts"),
    parallel: number("parallel"),
    ...(flags.oracle ? { oracle: true } : {}),
    ...(flags.agent === undefined ? {} : { agents: listOf(flags.agent) }),
    ...(flags.model === undefined ? {} : { models: listOf(flags.model) }),
    ...(flags.harness === undefined ? {} : { harnesses: harnessesOf(flags.harness) }),
    ...(flags.budget === undefined ? {} : { budget_usd: number("budget") }),
    ...(flags.replay === undefined ? {} : { replay: ownJson(await readText(flags.replay)) }),
  };
  assertFits(body, folder);
  const client = await connect(flags);
  const made = await client.call("POST", "/v1/evals", body);
  if (flags.detach) return { json: made, text: [made.id, `follow it with: skep evals show ${made.id} --follow`] };
  return followEval(client, made.id, flags.json === true, minPass);
}

/**
 * Checks the size of the request. @throws Problem 413 with the sizes of the tasks and of the recording if it is too
 * large.
 */
function assertFits(body: BodyOf<"POST", "/v1/evals">, folder: string): void {
  const sizeOf = (part: unknown) => Buffer.byteLength(JSON.stringify(part) ?? "");
  if (sizeOf(body) <= LIMITS.evalBytes) return;
  const [tasks, replay] = [sizeOf(body.tasks), sizeOf(body.replay)];
  const recording = replay > 0 ? ` and the recording ${bytesText(replay)}` : "";
  const largest = body.tasks.toSorted((a, b) => sizeOf(b) - sizeOf(a))[0]!;
  throw new Problem(
    413,
    "too_large",
    `The ${body.tasks.length} tasks in ${folder} take ${bytesText(tasks)} as they are sent${recording}; an eval takes ${bytesText(LIMITS.evalBytes)}. Split the folder, or leave out files; the largest task is ${largest.name} with ${bytesText(sizeOf(largest))}.`,
  );
}

const harnessesOf = (text: string): EvalHarness[] =>
  listOf(text).map((name) => {
    const known = EVAL_HARNESSES.find((one) => one === name);
    if (known) return known;
    throw badUsage(`There is no harness ${name}; there are ${EVAL_HARNESSES.join(", ")}.`);
  });

/** Reports progress until the eval has ended, then its result. Ctrl-C leaves; the eval continues on the server. */
export async function followEval(client: Client, id: string, quiet: boolean, minPass?: number): Promise<Answer> {
  const left = stopAtInterrupt();
  const state = () => client.call("GET", `/v1/evals/${id}`);
  try {
    const [last] = (await client.call("GET", "/v1/events?limit=1")).items;
    let now = await state();
    let told = -1;
    if (now.status === "running")
      for await (const event of client.events(
        `/v1/events/stream?kinds=eval_changed&after=${last?.id ?? 0}`,
        left.signal,
      )) {
        if (event.kind !== "eval_changed" || event.data["eval_id"] !== id) continue;
        now = await state();
        if (!quiet && now.ended !== told) console.error(`${now.ended} of ${now.total} attempts, ${now.passed} passed`);
        told = now.ended;
        if (now.status !== "running") break;
      }
  } finally {
    left.done();
  }
  const now = await state();
  return { json: now, text: evalLines(now), code: left.signal.aborted ? INTERRUPTED : exitCodeOf(now, minPass) };
}

function exitCodeOf({ status, mode, problems, passed, total }: Detail, minPass = 0): number {
  if (status === "cancelled") return 3;
  if (mode === "oracle") return problems.length > 0 ? 1 : 0;
  return total > 0 && passed / total < minPass ? 1 : 0;
}

async function fromRun(client: Client, run: string, folder: string): Promise<Answer> {
  const task = await client.call("GET", `/v1/runs/${run}/eval-task`);
  writeTask(folder, task);
  return {
    json: { folder, name: task.name },
    text: [
      `${folder} holds the task. Read instruction.md and tests/test.sh, then prove it:`,
      `  skep eval ${folder} --oracle`,
    ],
  };
}
