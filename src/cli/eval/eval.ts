/** `skep eval`: lets agents try the tasks of a folder, and reports how often they pass. */
import type { Command } from "commander";
import type { AnswerOf, BodyOf } from "../../api/types.ts";
import { badUsage, Problem } from "../../core/errors.ts";
import { EVAL_HARNESSES, type EvalHarness } from "../../core/harness-names.ts";
import { LIMITS } from "../../core/limits.ts";
import { ownJson } from "../../core/own-json.ts";
import { INTERRUPTED, stopAtInterrupt } from "../interrupt.ts";
import { assertPath, readText } from "../read-input.ts";
import { say } from "../resource/command.ts";
import type { Answer } from "../resource/resource.ts";
import { listOf } from "../resource/words.ts";
import type { Client } from "../server/client.ts";
import { connect, type ServerFlags, withServer } from "../server/locate.ts";
import { bytesText, formatCount } from "../terminal/table.ts";
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
    .description("let agents try the tasks in a folder, each in a sandbox, and report how often they pass")
    .argument("<folder>", "folder of a task, or folder that holds several")
    .option("--agent <a,b>", "agents that try the tasks, separated by commas")
    .option("--model <x,y>", "models to try each agent with, separated by commas (default: the agent's own)")
    .option(
      "--harness <a,b>",
      `harnesses to try each agent with (default: its own): ${EVAL_HARNESSES.join(", ")}; acp runs its file's command`,
    )
    .option("-k, --attempts <k>", "number of attempts at each task", "1")
    .option("--budget <usd>", "most that all attempts together may cost, in USD")
    .option("--parallel <n>", "number of attempts at the same time", "2")
    .option("--name <text>", "name of the eval (default: the folder as given)")
    .option("--oracle", "check the tasks without agents: reference solutions must pass, and doing nothing must fail")
    .option("--replay <file>", "play the replies in this recording instead of asking models")
    .option("--min-pass <share>", "exit 1 when a smaller share of the attempts passes, from 0 to 1, e.g. 0.8")
    .option("--detach", "return at once; do not wait until the eval has ended")
    .addHelpText(
      "after",
      "\nExit code: 0 done, 1 --oracle found problems or the share is below --min-pass, 3 cancelled, 130 left with Ctrl-C.\nAfter Ctrl-C, the eval continues on the server, also after a restart. See it with: skep evals",
    )
    .action(async (folder: string, flags: EvalFlags) => say(flags, await start(folder, flags), exit));
  withServer(command.command("from-run"))
    .description("write a task from a finished run: its start, its prompt, and its changes as the reference solution")
    .argument("<run>", "id of the run")
    .argument("<folder>", "folder to write the task into")
    .action(async (run: string, folder: string, _: ServerFlags, own: Command) => {
      assertPath(folder);
      const flags = own.optsWithGlobals<ServerFlags>();
      say(flags, await fromRun(await connect(flags), run, folder), exit);
    });
  command
    .command("shipped")
    .description("write ten small sample tasks in five languages into a folder")
    .argument("<folder>", "folder to write the tasks into; it is created")
    .option("--json", "print JSON instead of text")
    .action((folder: string, _: ServerFlags, own: Command) => {
      assertPath(folder);
      const tasks = shippedTasks();
      for (const task of tasks) writeTask(`${folder}/${task.name}`, task);
      const json = { folder, tasks: tasks.map(({ name }) => name) };
      const text = [
        `${formatCount(tasks.length, "task")} in ${folder}`,
        `prove them with: skep eval ${folder} --oracle`,
      ];
      say(own.optsWithGlobals<ServerFlags>(), { json, text }, exit);
    });
}

async function start(folder: string, flags: EvalFlags): Promise<Answer> {
  assertPath(folder);
  const tasks = readTasks(folder);
  const readNumber = (name: "attempts" | "budget" | "parallel" | "minPass"): number | undefined => {
    const text = flags[name];
    if (text !== undefined && !/^\d+(\.\d+)?$/.test(text)) throw badUsage(`${text} is no number.`);
    return text === undefined ? undefined : Number(text);
  };
  const minPass = readNumber("minPass");
  const body: BodyOf<"POST", "/v1/evals"> = {
    name: flags.name ?? folder,
    tasks,
    attempts: readNumber("attempts"),
    parallel: readNumber("parallel"),
    ...(flags.oracle ? { oracle: true } : {}),
    ...(flags.agent === undefined ? {} : { agents: listOf(flags.agent) }),
    ...(flags.model === undefined ? {} : { models: listOf(flags.model) }),
    ...(flags.harness === undefined ? {} : { harnesses: harnessesOf(flags.harness) }),
    ...(flags.budget === undefined ? {} : { budget_usd: readNumber("budget") }),
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
  const loadState = () => client.call("GET", `/v1/evals/${id}`);
  try {
    const [last] = (await client.call("GET", "/v1/events?limit=1")).items;
    let now = await loadState();
    let told = -1;
    if (now.status === "running")
      for await (const event of client.events(
        `/v1/events/stream?kinds=eval_changed&after=${last?.id ?? 0}`,
        left.signal,
      )) {
        if (event.kind !== "eval_changed" || event.data["eval_id"] !== id) continue;
        now = await loadState();
        if (!quiet && now.ended !== told)
          console.error(`${now.ended} of ${formatCount(now.total, "attempt")}, ${now.passed} passed`);
        told = now.ended;
        if (now.status !== "running") break;
      }
  } finally {
    left.stopListening();
  }
  const now = await loadState();
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
