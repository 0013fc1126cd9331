/** `skep swarm`: tasks with dependencies, done by agents in parallel. `run` starts a swarm from a file. */
import type { BodyOf, RowOf } from "../../api/types.ts";
import { msBetween, toTimestamp } from "../../core/clock.ts";
import { unreadable } from "../../core/errors.ts";
import type { SkepEvent } from "../../core/events.ts";
import { INTERRUPTED, stopAtInterrupt } from "../interrupt.ts";
import { readText } from "../read-input.ts";
import type { Client } from "../server/client.ts";
import { warnOfStandby } from "../server/standby.ts";
import { oneLine, paint, stripControls } from "../terminal/style.ts";
import { type Column, fullCostText, spanText, tableLines, timeText } from "../terminal/table.ts";
import { listItems } from "./find.ts";
import { type Answer, type Flags, type OptionSpec, type Resource, verbMakers } from "./resource.ts";
import { COST, listVerb, statusStyle } from "./words.ts";

type List = "/v1/swarm";
type Item = RowOf<List>;
const { actOnList, actOnOne } = verbMakers<List>();
type Task = RowOf<`${List}/${string}/tasks`>;

/** More tasks than a swarm may have. */
const TASKS = 200;
const SWARMS = 50;

/** How long it took: a swarm since its creation, a task since its start. */
const tookOf = ({ finished_at, ...one }: Item | Task): string => {
  const begun = "started_at" in one ? one.started_at : one.created_at;
  return begun ? spanText(msBetween(begun, finished_at ?? toTimestamp(Date.now()))) : "";
};
const doneOf = ({ counts, task_count }: Item): string => `${counts.succeeded ?? 0}/${task_count}`;
const exitCodeOf = ({ status }: Item): number => (status === "succeeded" ? 0 : status === "cancelled" ? 3 : 1);

const FOLLOW: OptionSpec = { flags: "--follow", about: "show progress until the swarm ends" };
const OUTPUTS: OptionSpec = { flags: "--outputs", about: "also print the output of each task" };

export const swarm: Resource<List> = {
  name: "swarm",
  one: "swarm",
  about: "list the swarms, tasks that agents do side by side; or show one with its tasks",
  path: "/v1/swarm",
  idOf: ({ id }) => id,
  columns: [
    { head: "SWARM", of: ({ id }) => id },
    { head: "STATUS", of: ({ status }) => status, style: ({ status }) => statusStyle(status) },
    { head: "DONE", of: doneOf, right: true },
    { head: "BEGUN", of: ({ created_at }) => timeText(created_at) },
    { head: "TOOK", of: tookOf, right: true },
    COST,
    { head: "AGENT", of: ({ agent_id }) => agent_id },
    { head: "FIRST TASK", of: ({ title }) => title, shrinks: true },
  ],
  options: [FOLLOW, OUTPUTS],
  empty: "No swarms yet. Start one with: skep swarm run FILE",
  show: (item, { client, flags }) => (flags["follow"] ? follow(client, item, flags) : show(client, item, flags)),
  verbs: [
    actOnList("run", "start a swarm that a file describes; see docs/swarms.md", {
      args: [
        {
          name: "<file>",
          about: "YAML or JSON file with agent_id, tasks and other fields of the API; - for standard input",
        },
      ],
      options: [FOLLOW, OUTPUTS],
      async run({ client, args: [file], flags }) {
        const made = await client.call("POST", "/v1/swarm/execute", await readPlan(file!));
        await warnOfStandby(client);
        if (flags["follow"]) return follow(client, made, flags);
        return { json: made, text: [made["id"], `follow it with: skep swarm show ${made["id"]} --follow`] };
      },
    }),
    listVerb("list the swarms, as `skep swarm` does", SWARMS, () => swarm),
    actOnOne("show", "show a swarm with its tasks, as `skep swarm SWARM` does", {
      options: [FOLLOW, OUTPUTS],
      run: ({ client, item, flags }) => (flags["follow"] ? follow(client, item, flags) : show(client, item, flags)),
    }),
    actOnOne("cancel", "cancel a swarm and all work that its tasks started", async ({ client, path }) => {
      const now = await client.call("POST", `${path}/cancel`);
      return {
        json: now,
        text: `${now["id"]} ${now["status"] === "running" ? "is being cancelled" : now["status"]}`,
      };
    }),
    actOnOne("retry", "do a task of a swarm that did not succeed again, and the tasks that depend on it", {
      args: [{ name: "<task>", about: "key of the task in the swarm" }],
      options: [FOLLOW, OUTPUTS],
      async run({ client, path, args: [key], flags }) {
        const now = await client.call("POST", `${path}/tasks/${encodeURIComponent(key!)}/retry`);
        return flags["follow"] ? follow(client, now, flags) : { json: now, text: `${now["id"]} continues` };
      },
    }),
  ],
};

/** Parses the file; the server validates it. @throws Problem 422 if the file is not YAML, or not a map. */
async function readPlan(file: string): Promise<BodyOf<"POST", "/v1/swarm/execute">> {
  const text = await readText(file);
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text);
  const [fault] = document.errors;
  if (fault) throw unreadable(`${file}: ${oneLine(fault.message)}`);
  const plan = document.toJS({ maxAliasCount: 0 });
  if (typeof plan === "object" && plan !== null && !Array.isArray(plan)) return plan;
  throw unreadable(`${file}: agent_id and tasks are needed, as docs/swarms.md shows.`);
}

const tasksOf = (client: Client, { id }: Item) => listItems(client, `/v1/swarm/${id}/tasks`, TASKS);

async function show(client: Client, item: Item, flags: Flags): Promise<Answer> {
  const { items: tasks } = await tasksOf(client, item);
  const { id, status, counts, error, cost_usd, calls_without_price, max_concurrent } = item;
  const count = Object.entries(counts).map(([name, number]) => `${number} ${name}`);
  const head = [
    `${paint("bold", id)}  ${status}  ${tookOf(item)}  ${fullCostText({ cost_usd, calls_without_price })}`,
    paint("dim", `${count.join(", ")}; at most ${max_concurrent} at once`),
    ...(error ? [paint("red", error.message)] : []),
    "",
  ];
  const columns: readonly Column<Task>[] = [
    { head: "TASK", of: ({ key }) => key },
    { head: "STATUS", of: ({ status: is }) => is, style: ({ status: is }) => statusStyle(is) },
    { head: "TOOK", of: tookOf, right: true },
    COST,
    { head: "AGENT", of: ({ agent_id }) => agent_id },
    { head: "AFTER", of: ({ depends_on }) => depends_on.join(" "), shrinks: true, optional: true },
    { head: "SAID", of: (task) => oneLine(task["error"]?.message ?? task["output"] ?? ""), shrinks: true },
  ];
  const outputs = flags["outputs"] ? tasks.flatMap(outputLines) : [];
  return { json: { ...item, tasks }, text: [...head, ...tableLines(columns, tasks), ...outputs] };
}

function outputLines({ key, output, outputs }: Task): string[] {
  const values = Object.keys(outputs).length > 0 ? [JSON.stringify(outputs, null, 2)] : [];
  const said = [...(output ? [stripControls(output)] : []), ...values];
  return said.length === 0 ? [] : ["", paint("bold", key), ...said];
}

/** Reports progress until the swarm has ended, then its result. Ctrl-C leaves; the swarm continues on the server. */
async function follow(client: Client, item: Item, flags: Flags): Promise<Answer> {
  const left = stopAtInterrupt();
  const path = `/v1/swarm/${item["id"]}` as const;
  const isOver = ({ status }: Item) => status !== "running";
  try {
    if (!isOver(item))
      for await (const event of client.events(`/v1/events/stream?swarm_id=${item["id"]}`, left.signal)) {
        if (flags["json"]) console.log(JSON.stringify(event));
        else console.log(lineOf(event));
        // If a task was done again, the log has an earlier `swarm_complete`, so also check the status.
        if (event.kind === "swarm_complete" && isOver(await client.call("GET", path))) break;
      }
  } finally {
    left.stopListening();
  }
  const now = await client.call("GET", path);
  const shown = await show(client, now, flags);
  return { ...shown, code: left.signal.aborted ? INTERRUPTED : exitCodeOf(now) };
}

function lineOf({ kind, agent_id, data }: SkepEvent): string {
  if (kind === "swarm_task_started") return `▶ ${data["key"]} (${agent_id})`;
  if (kind === "swarm_task_complete") return `✔ ${data["key"]}`;
  if (kind === "swarm_task_failed")
    return `✘ ${data["key"]} ${data["status"]}${data["error"] ? `: ${oneLine(String(data["error"]))}` : ""}`;
  return `${data["status"]}\n`;
}
