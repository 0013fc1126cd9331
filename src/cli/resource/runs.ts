/** `skep runs`: the runs of pipelines and their results. `cancel`, `restart` and `approve` act on one run. */
import type { AnswerOf, RowOf } from "../../api/types.ts";
import { msBetween, toTimestamp } from "../../core/clock.ts";
import { Problem } from "../../core/errors.ts";
import { RUN_STATUSES } from "../../core/run-states.ts";
import { exitCodeOf, followRun } from "../follow/follow.ts";
import { followedLines, reportLines } from "../follow/report.ts";
import { INTERRUPTED, onInterrupt } from "../interrupt.ts";
import type { Client } from "../server/client.ts";
import { oneLine } from "../terminal/style.ts";
import { localizeTimes, spanText, tableLines, timeText } from "../terminal/table.ts";
import { connectionsVerb } from "./connections.ts";
import { listItems } from "./find.ts";
import { DELETE_OPTIONS, deleteHistory } from "./history.ts";
import { previewVerb } from "./preview.ts";
import { type Answer, type Flags, type Resource, type Verb, verbMakers } from "./resource.ts";
import { COST, keepVerb, statusStyle } from "./words.ts";

type List = "/v1/runs";
type Item = RowOf<List>;
const { actOnOne } = verbMakers<List>();

/** How many steps of a run are shown, counting every attempt. */
const STEPS = 2_000;

export const runs: Resource<List> = {
  name: "runs",
  one: "run",
  about: "list runs, or show one with its steps",
  path: "/v1/runs",
  idOf: ({ id }) => id,
  columns: [
    { head: "RUN", of: ({ id }) => id },
    { head: "STATUS", of: ({ status }) => status, style: ({ status }) => statusStyle(status) },
    { head: "BEGUN", of: ({ created_at }) => timeText(created_at) },
    { head: "TOOK", of: tookOf, right: true },
    COST,
    { head: "PIPELINE", of: ({ pipeline_id }) => pipeline_id },
    { head: "PROJECT", of: ({ project_name }) => project_name, optional: true },
    {
      head: "WAITS FOR",
      of: ({ waiting_reason }) => waiting_reason && localizeTimes(waiting_reason),
      shrinks: true,
      optional: true,
    },
    { head: "TASK", of: ({ task_description }) => task_description, shrinks: true },
  ],
  filters: [
    { flags: "--pipeline <pipeline>", about: "only runs of this pipeline", query: "pipeline_id" },
    { flags: "--status <status>", about: "only runs with this status", query: "status", choices: RUN_STATUSES },
    { flags: "--since <time>", about: "only runs created at or after this time (RFC 3339)", query: "since" },
  ],
  options: [
    { flags: "--follow", about: "show steps, tool calls and cost until the run ends" },
    { flags: "--text", about: "when following, print everything that agents write, also above the live tree" },
    { flags: "--no-text", about: "when following, do not print what agents write" },
  ],
  empty: 'No runs yet. Try: skep run hello "Greet me"',
  show: (run, { client, flags }) => (flags["follow"] ? answerFollowed(run, client, flags) : show(run, client)),
  verbs: [
    actOnOne("delete", "delete an ended run with its files, its branch and its transcripts", {
      options: DELETE_OPTIONS,
      run: ({ client, item: { id }, flags }) => deleteHistory(client, { kind: "runs", id, what: `run ${id}`, flags }),
    }),
    keepVerb<Item, List>("run"),
  ],
};

type Step = RowOf<`/v1/steps/${string}`>;

function tookOf({ started_at, finished_at }: Pick<Item, "started_at" | "finished_at">): string {
  if (!started_at) return "";
  return spanText(msBetween(started_at, finished_at ?? toTimestamp(Date.now())));
}

async function show(run: AnswerOf<"GET", `/v1/runs/${string}`>, client: Client): Promise<Answer> {
  const { items: steps } = await listItems(client, `/v1/steps/${run.id}`, STEPS);
  const table = tableLines<Step>(
    [
      {
        head: "STEP",
        of: ({ step_id, index }) => (index === null || index === undefined ? step_id : `${step_id}[${index}]`),
      },
      { head: "STATUS", of: ({ status }) => status, style: ({ status }) => statusStyle(status) },
      { head: "TRY", of: ({ attempt }) => attempt, right: true },
      { head: "BY", of: ({ agent_id, kind }) => (kind === "command" ? "a command" : agent_id) },
      { head: "MODEL", of: ({ model }) => model },
      { head: "TOOK", of: tookOf, right: true },
      COST,
      { head: "ERROR", of: ({ error }) => error?.message, shrinks: true },
    ],
    partsBelow(steps),
  );
  const inputs = Object.entries(run.inputs).map(([name, value]) => `  input ${name}: ${oneLine(value)}`);
  return {
    json: { ...run, steps },
    text: [...reportLines(run, client), ...inputs, ...(steps.length > 0 ? ["", ...table] : [])],
  };
}

/** Keeps the order of the steps, but puts the items of a loop below their step. */
export function partsBelow<S extends { step_id: string; index?: number | null }>(steps: readonly S[]): S[] {
  const isPart = ({ index }: S) => typeof index === "number";
  const places = new Map<string, number>();
  for (const { step_id } of steps) if (!places.has(step_id)) places.set(step_id, places.size);
  return steps.toSorted(
    (a, b) => places.get(a.step_id)! - places.get(b.step_id)! || Number(isPart(a)) - Number(isPart(b)),
  );
}

/** Follows a run until it ends. Ctrl-C leaves the run. */
export async function answerFollowed(run: Pick<Item, "id">, client: Client, flags: Flags): Promise<Answer> {
  const json = flags["json"] === true;
  const interrupt = onInterrupt(client, run["id"], false);
  const shown = await followRun(client, run["id"], { json, text: flags["text"] }, interrupt.signal);
  interrupt.stopListening();
  return {
    json: shown,
    text: await followedLines(shown, client, false),
    code: interrupt.asked ? INTERRUPTED : exitCodeOf(shown.status),
  };
}

/** Verbs of runs that are also top-level commands. */
export const RUN_VERBS: readonly Verb<Item, List>[] = [
  actOnOne("cancel", "cancel a run", ({ client, path }) => act(client, path, "cancel")),
  actOnOne(
    "try-now",
    "ask the model provider again at once, when a run waits for a used-up quota to reset",
    ({ client, path }) => act(client, path, "try-now"),
  ),
  actOnOne("restart", "continue a failed or cancelled run from its first unfinished step", {
    options: [
      { flags: "--from <step>", about: "step to go back to (default: the first unfinished step)" },
      { flags: "--context <text>", about: "extra guidance for the steps that run again" },
    ],
    run: ({ client, path, flags }) =>
      act(client, path, "restart", { from_step: flags["from"], human_context: flags["context"] }),
  }),
  connectionsVerb,
  previewVerb,
  actOnOne("approve", "approve or reject a step of a run that waits for a person", {
    args: [{ name: "[step]", about: "name of the step; needed when several steps wait" }],
    options: [
      { flags: "--reject", about: "reject the step instead of approving it" },
      { flags: "--comment <text>", about: "comment that the next steps read" },
    ],
    async run({ client, item, path, args, flags }) {
      const step = args[0] ?? (await onlyWaiting(client, item["id"]));
      const comment: string | undefined = flags["comment"];
      return act(client, path, "approve", {
        step_id: step,
        approved: !flags["reject"],
        ...(comment ? { comment } : {}),
      });
    },
  }),
];

async function act(client: Client, path: string, verb: string, body?: unknown): Promise<Answer> {
  const after = await client.ask<Item>("POST", `${path}/${verb}`, body);
  return { json: after, text: `${after.id} ${after.status}` };
}

async function onlyWaiting(client: Client, runId: string): Promise<string> {
  const { items } = await listItems(client, `/v1/steps/${runId}`, STEPS);
  const names = [...new Set(items.filter(({ status }) => status === "waiting").map(({ step_id }): string => step_id))];
  if (names.length === 1) return names[0]!;
  const said = names.length === 0 ? "No step of this run waits for a person." : `Name the step: ${names.join(", ")}.`;
  throw new Problem(names.length === 0 ? 409 : 422, "ambiguous", said);
}
