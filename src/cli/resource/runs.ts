/** `skep runs`: what was asked of pipelines, and how it went. `cancel`, `restart` and `approve` act on one. */
import type { AnswerOf, RowOf } from "../../api/types.ts";
import { msBetween, timestamp } from "../../core/clock.ts";
import { isProblem, Problem } from "../../core/errors.ts";
import { MERGE_STRATEGIES } from "../../core/merge-strategy.ts";
import { RUN_STATUSES } from "../../core/run-states.ts";
import { exitCodeOf, followRun } from "../follow/follow.ts";
import { followedLines, reportLines } from "../follow/report.ts";
import { INTERRUPTED, onInterrupt } from "../interrupt.ts";
import type { Client } from "../server/client.ts";
import { oneLine, paint, plain, type Style } from "../terminal/style.ts";
import { spanText, tableLines, timeText } from "../terminal/table.ts";
import { connectionsVerb } from "./connections.ts";
import { listItems } from "./find.ts";
import { jobEnded } from "./jobs.ts";
import type { Answer, Call, Flags, Loose, Resource, Verb } from "./resource.ts";
import { COST, statusStyle } from "./words.ts";

type List = "/v1/runs";
type Item = RowOf<List>;
type One = Call<Item, `${List}/${string}`>;

/** Steps of one run that are shown, every attempt. */
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
    { head: "WAITS FOR", of: ({ waiting_reason }) => waiting_reason, shrinks: true, optional: true },
    { head: "TASK", of: ({ task_description }) => task_description, shrinks: true },
  ],
  filters: [
    { flags: "--pipeline <pipeline>", about: "of this pipeline", query: "pipeline_id" },
    { flags: "--status <status>", about: "in this status", query: "status", choices: RUN_STATUSES },
    { flags: "--since <time>", about: "created at or after this time (RFC 3339)", query: "since" },
  ],
  options: [
    { flags: "--follow", about: "follow the run until it ends" },
    { flags: "--text", about: "with --follow: show all that agents write" },
    { flags: "--no-text", about: "with --follow: hide what agents write" },
  ],
  empty: 'No runs yet. Try: skep run hello "Greet me"',
  show: (run, { client, flags }) => (flags["follow"] ? follow(run, client, flags) : show(run, client)),
  verbs: [],
};

/** What a merge says that has an end. */
type Merge = Exclude<AnswerOf<"POST", `${One["path"]}/merge`>, { state: unknown }>;
type Step = RowOf<`/v1/steps/${string}`>;

function tookOf({ started_at, finished_at }: Pick<Item, "started_at" | "finished_at">): string {
  if (!started_at) return "";
  return spanText(msBetween(started_at, finished_at ?? timestamp(Date.now())));
}

async function show(run: AnswerOf<"GET", `/v1/runs/${string}`>, client: Client): Promise<Answer> {
  const { items: steps } = await listItems(client, `/v1/steps/${run.id}`, new URLSearchParams(), STEPS);
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

/** Steps in their order, the parts of a loop below the step that they are parts of. */
export function partsBelow<S extends { step_id: string; index?: number | null }>(steps: readonly S[]): S[] {
  const isPart = ({ index }: S) => typeof index === "number";
  const places = new Map<string, number>();
  for (const { step_id } of steps) if (!places.has(step_id)) places.set(step_id, places.size);
  return steps.toSorted(
    (a, b) => places.get(a.step_id)! - places.get(b.step_id)! || Number(isPart(a)) - Number(isPart(b)),
  );
}

async function follow(run: Pick<Item, "id">, client: Client, flags: Flags): Promise<Answer> {
  const json = flags["json"] === true;
  const interrupt = onInterrupt(client, run["id"], false);
  const shown = await followRun(client, run["id"], { json, text: flags["text"] }, interrupt.signal);
  interrupt.done();
  return {
    json: shown,
    text: await followedLines(shown, client, false),
    code: interrupt.asked ? INTERRUPTED : exitCodeOf(shown.status),
  };
}

/** Verbs of runs that are commands of their own. */
export const RUN_VERBS: readonly Verb<Item, List>[] = [
  {
    name: "cancel",
    about: "cancel a run",
    on: "one",
    run: ({ client, path }) => acted(client, path, "cancel"),
  },
  {
    name: "try-now",
    about: "ask a provider again at once, whose quota the run waits for",
    on: "one",
    run: ({ client, path }) => acted(client, path, "try-now"),
  },
  {
    name: "restart",
    about: "continue a failed or cancelled run from its first unfinished step",
    on: "one",
    options: [
      { flags: "--from <step>", about: "go back to this step" },
      { flags: "--context <text>", about: "guidance for the steps that run again" },
    ],
    run: ({ client, path, flags }) =>
      acted(client, path, "restart", { from_step: flags["from"], human_context: flags["context"] }),
  },
  {
    name: "diff",
    about: "show what a run changed, as a patch",
    on: "one",
    options: [{ flags: "--stat", about: "only the files, with counts of lines" }],
    run: diff,
  },
  connectionsVerb,
  {
    name: "merge",
    about: "take a run's work into a branch, or show what is in conflict",
    on: "one",
    options: [
      { flags: "--strategy <way>", about: "how", choices: MERGE_STRATEGIES, default: "merge" },
      { flags: "--into <branch>", about: "branch that takes it (default: the project's)" },
      { flags: "--message <text>", about: "message of the commit" },
      { flags: "--push", about: "push the branch to the repository afterwards" },
      { flags: "--task", about: "in conflict: make a task for solving it" },
    ],
    run: merge,
  },
  {
    name: "comment",
    about: "comment on a line that a run changed; without a place, list its comments",
    on: "one",
    args: [
      { name: "[place]", about: "file, or file:line" },
      { name: "[text]", about: "what is to be done there" },
    ],
    options: [
      { flags: "--old", about: "the line number is that before the change" },
      { flags: "--delete <id>", about: "delete this comment" },
    ],
    run: comment,
  },
  {
    name: "send-back",
    about: "another attempt of an ended run, with its open comments as guidance",
    on: "one",
    options: [
      { flags: "--from <step>", about: "continue from this step (default: every step again)" },
      { flags: "--message <text>", about: "guidance put before the comments" },
    ],
    run: ({ client, path, flags }) =>
      acted(client, path, "send-back", { from_step: flags["from"], message: flags["message"] }),
  },
  {
    name: "approve",
    about: "answer a step that waits for a person",
    on: "one",
    args: [{ name: "[step]", about: "name of the step, where more than one waits" }],
    options: [
      { flags: "--reject", about: "say no" },
      { flags: "--comment <text>", about: "what the next steps read" },
    ],
    run: approve,
  },
];

async function diff({ client, path, flags }: One): Promise<Answer> {
  if (flags["stat"] || flags["json"]) {
    const { items, stats, ...rest } = await wholeDiff(client, path);
    const table = tableLines(
      [
        { head: "FILE", of: ({ path: file }) => file, shrinks: true },
        { head: "CHANGE", of: ({ status }) => status },
        { head: "+", of: ({ insertions }) => insertions ?? "binary", right: true },
        { head: "-", of: ({ deletions }) => deletions ?? "binary", right: true },
      ],
      items,
    );
    return { json: { ...rest, stats, items }, text: items.length === 0 ? "The run changed no file." : table };
  }
  const patch = await client.text(`${path}/diff?format=patch`);
  if (patch === "") return { json: patch, text: "The run changed no file." };
  return { json: patch, text: patch.replace(/\n$/, "").split("\n").map(colouredLine), exact: patch };
}

const PATCH_STYLES: Readonly<Record<string, Style>> = { "+": "green", "-": "red", "@": "cyan" };
/** Styles a line of a patch by its first character. */
const colouredLine = (line: string): string =>
  paint(/^(diff |index |--- |\+\+\+ )/.test(line) ? "bold" : PATCH_STYLES[line[0] ?? ""], plain(line));

async function wholeDiff(client: Client, path: One["path"]) {
  const whole = await client.call("GET", `${path}/diff`);
  for (let cursor: string | null = whole.next_cursor; cursor !== null; ) {
    const page: typeof whole = await client.call("GET", `${path}/diff?cursor=${encodeURIComponent(cursor)}`);
    whole["items"].push(...page["items"]);
    cursor = page["next_cursor"];
  }
  return { ...whole, next_cursor: null };
}

async function merge({ client, path, flags }: One): Promise<Answer> {
  const { into, strategy, message } = flags;
  const body = { into, strategy, message, push: flags["push"] === true, task: flags["task"] === true };
  try {
    const answer = await client.call("POST", `${path}/merge`, body);
    if (!("state" in answer)) return merged(answer);
    // A long merge: the server answered with its job.
    const job = await jobEnded(client, answer);
    if (job.state === "succeeded") return merged(job.result ?? {});
    const { code, message } = job["error"] ?? { code: job["state"], message: `The merge was ${job["state"]}.` };
    if (code !== "merge_conflict") throw new Problem(409, code, message);
    return conflicting(code, message, job.progress ?? {});
  } catch (error) {
    if (!isProblem(error) || error.code !== "merge_conflict") throw error;
    return conflicting(error.code, error.detail, error.extras.data ?? {});
  }
}

const merged = (merge: Partial<Merge>): Answer => ({
  json: merge,
  text: `${merge.run_id} is in ${merge.into} at ${merge.commit?.slice(0, 8)}${merge.pushed ? ", pushed" : ""}`,
});

function conflicting(code: string, detail: string, report: Loose): Answer {
  const files: { path: string; kind: string; hunks: string[] }[] = report["files"] ?? [];
  const task = report["task_id"];
  const shown = files.flatMap(({ path, kind, hunks }) => [
    `${path} (${kind})`,
    ...hunks.flatMap((hunk) => hunk.split("\n")),
  ]);
  const json = { code, detail, files, ...(task ? { task_id: task } : {}) };
  return { json, text: [...shown, "", detail, ...(task ? [`The task for it: ${task}`] : [])], code: 1 };
}

async function comment({ client, item, path, args: [place, text], flags }: One): Promise<Answer> {
  if (flags["delete"] !== undefined) {
    await client.call("DELETE", `${path}/comments/${encodeURIComponent(String(flags["delete"]))}`);
    return { json: { deleted: flags["delete"] }, text: `${flags["delete"]} deleted` };
  }
  if (place === undefined) return comments(client, item["id"]);
  if (text === undefined)
    throw new Problem(422, "bad_usage", 'Say what is to be done there: skep comment RUN FILE:LINE "…"');
  const [, file = place, line] = /^(.*):(\d+)$/.exec(place) ?? [];
  const side = flags["old"] ? ("old" as const) : ("new" as const);
  const body = { path: file, ...(line ? { line: Number(line) } : {}), side, body: text };
  const made = await client.call("POST", `${path}/comments`, body);
  return { json: made, text: `${made["id"]} on ${placeText(made)}` };
}

type Remark = RowOf<`/v1/runs/${string}/comments`>;

const placeText = ({ path, line, side }: Remark): string =>
  path === null ? "the change" : `${path}${line === null ? "" : `:${line}`}${side === "old" ? " (old)" : ""}`;

async function comments(client: Client, runId: string): Promise<Answer> {
  const { items } = await listItems(client, `/v1/runs/${runId}/comments`, new URLSearchParams(), 500);
  const table = tableLines<Remark>(
    [
      { head: "PLACE", of: placeText },
      { head: "BY", of: ({ codehost_login }) => codehost_login ?? "" },
      { head: "COMMENT", of: ({ body }) => body, shrinks: true },
      { head: "SENT", of: ({ sent_at }) => timeText(sent_at) },
      { head: "ID", of: ({ id }) => id },
    ],
    items,
  );
  return {
    json: { items },
    text: items.length === 0 ? "No comments. Write one: skep comment RUN FILE:LINE TEXT" : table,
  };
}

async function acted(client: Client, path: string, verb: string, body?: unknown): Promise<Answer> {
  const after = await client.ask<Item>("POST", `${path}/${verb}`, body);
  return { json: after, text: `${after.id} ${after.status}` };
}

async function approve({ client, item, path, args, flags }: One): Promise<Answer> {
  const step = args[0] ?? (await onlyWaiting(client, item["id"]));
  const comment: string | undefined = flags["comment"];
  return acted(client, path, "approve", { step_id: step, approved: !flags["reject"], ...(comment ? { comment } : {}) });
}

async function onlyWaiting(client: Client, runId: string): Promise<string> {
  const { items } = await listItems(client, `/v1/steps/${runId}`, new URLSearchParams(), STEPS);
  const names = [...new Set(items.filter(({ status }) => status === "waiting").map(({ step_id }): string => step_id))];
  if (names.length === 1) return names[0]!;
  const said = names.length === 0 ? "No step of this run waits for a person." : `Name the step: ${names.join(", ")}.`;
  throw new Problem(names.length === 0 ? 409 : 422, "ambiguous", said);
}
