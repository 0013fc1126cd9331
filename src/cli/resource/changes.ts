/** `skep changes`: the branches of runs, chats, swarms, spawned work and routines, and what can be done with them. */
import type { AnswerOf, RowOf } from "../../api/types.ts";
import { badUsage, isProblem, Problem } from "../../core/errors.ts";
import { listIn, textIn } from "../../core/is-object.ts";
import { MERGE_STRATEGIES } from "../../core/merge-strategy.ts";
import type { Client } from "../server/client.ts";
import { paint, type Style, stripControls } from "../terminal/style.ts";
import { tableLines, timeText } from "../terminal/table.ts";
import { listItems } from "./find.ts";
import { jobEnded } from "./jobs.ts";
import { type Answer, type Call, type Resource, type Verb, verbMakers } from "./resource.ts";
import { assertMeant, YES } from "./words.ts";

type List = "/v1/changes";
type Item = RowOf<List>;
type One = Call<Item, `${List}/${string}`>;
const { actOnOne } = verbMakers<List>();

export const changes: Resource<List> = {
  name: "changes",
  one: "changes",
  about: "list the runs, chats and other work with branches in projects, or show one",
  path: "/v1/changes",
  idOf: ({ work_id }) => work_id,
  columns: [
    { head: "ID", of: ({ work_id }) => work_id },
    { head: "KIND", of: ({ kind }) => kind },
    { head: "AT WORK", of: ({ at_work }) => (at_work ? "yes" : "") },
    { head: "MERGED INTO", of: ({ merged_into }) => merged_into, optional: true },
    { head: "AGENT", of: ({ agent_id }) => agent_id, optional: true },
    { head: "TITLE", of: ({ title }) => title, shrinks: true },
  ],
  filters: [{ flags: "--project <id>", about: "only work in the project with this id", query: "project_id" }],
  absent: (word) => `There is no run, chat, swarm, spawned execution or tick ${word} that works on a branch.`,
  empty: "Nothing works on a branch of a project yet. Try: skep chat --project PROJECT",
  verbs: [],
};

/** The answer of a merge that is complete, in contrast to one that continues as a job. */
type Merge = Exclude<AnswerOf<"POST", `${One["path"]}/merge`>, { state: unknown }>;

/** Verbs of changes that are also top-level commands. */
export const CHANGES_VERBS: readonly Verb<Item, List>[] = [
  actOnOne("diff", "show what a run, a chat or other work on a branch changed, as a patch", {
    options: [{ flags: "--stat", about: "list only the changed files, with their numbers of added and removed lines" }],
    run: diff,
  }),
  actOnOne("merge", "merge the work of a run, a chat or other work into a branch, or show the conflicts", {
    options: [
      { flags: "--strategy <way>", about: "how to merge", choices: MERGE_STRATEGIES, default: "merge" },
      { flags: "--into <branch>", about: "branch to merge into (default: the project's branch)" },
      { flags: "--message <text>", about: "commit message" },
      { flags: "--push", about: "push the branch to the project's repository afterwards" },
      { flags: "--task", about: "when there are conflicts, create a task to solve them" },
    ],
    run: merge,
  }),
  actOnOne("comment", "comment on a changed file or line; without a place, list the comments", {
    args: [
      { name: "[place]", about: "changed file, or file:line" },
      { name: "[text]", about: "text of the comment: what to do there" },
    ],
    options: [
      { flags: "--old", about: "take the line number from the file before the change" },
      { flags: "--delete <id>", about: "delete the comment with this id" },
      YES,
    ],
    run: comment,
  }),
  actOnOne("send-back", "let the agents work again, with the open comments as guidance", {
    options: [
      { flags: "--from <step>", about: "for a run, step to continue from (default: every step runs again)" },
      { flags: "--message <text>", about: "guidance to put before the comments" },
    ],
    run: sendBack,
  }),
];

async function sendBack({ client, item: { work_id, kind }, path, flags }: One): Promise<Answer> {
  const message: string | undefined = flags["message"];
  if (kind === "run") {
    const after = await client.call("POST", `/v1/runs/${work_id}/send-back`, { from_step: flags["from"], message });
    return { json: after, text: `${after.id} ${after.status}` };
  }
  if (flags["from"] !== undefined) throw badUsage("--from is for runs: other work has no steps.");
  return { json: await client.call("POST", `${path}/send-back`, { message }), text: `${work_id} is sent back` };
}

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
    return { json: { ...rest, stats, items }, text: items.length === 0 ? "No file was changed." : table };
  }
  const patch = await client.text(`${path}/diff?format=patch`);
  if (patch === "") return { json: patch, text: "No file was changed." };
  return { json: patch, text: patch.replace(/\n$/, "").split("\n").map(colouredLine), exact: patch };
}

const PATCH_STYLES: Readonly<Record<string, Style>> = { "+": "green", "-": "red", "@": "cyan" };
/** Styles a line of a patch by its first character. */
const colouredLine = (line: string): string =>
  paint(/^(diff |index |--- |\+\+\+ )/.test(line) ? "bold" : PATCH_STYLES[line[0] ?? ""], stripControls(line));

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
    if (!("state" in answer)) return describeMerge(answer);
    // A long merge: the server answered with a job, so wait for the job.
    const job = await jobEnded(client, answer);
    if (job.state === "succeeded") return describeMerge(job.result ?? {});
    const { code, message } = job["error"] ?? { code: job["state"], message: `The merge was ${job["state"]}.` };
    if (code !== "merge_conflict") throw new Problem(409, code, message);
    return describeConflict(code, message, job.progress);
  } catch (error) {
    if (!isProblem(error) || error.code !== "merge_conflict") throw error;
    return describeConflict(error.code, error.detail, error.extras.data);
  }
}

const describeMerge = (merge: Partial<Merge>): Answer => ({
  json: merge,
  text: `${merge.work_id} is in ${merge.into} at ${merge.commit?.slice(0, 8)}${merge.pushed ? ", pushed" : ""}`,
});

function describeConflict(code: string, detail: string, report: unknown): Answer {
  const files = listIn(report, "files").map((one) => ({
    path: textIn(one, "path"),
    kind: textIn(one, "kind"),
    hunks: listIn(one, "hunks").map(String),
  }));
  const task = textIn(report, "task_id");
  const shown = files.flatMap(({ path, kind, hunks }) => [
    `${path} (${kind})`,
    ...hunks.flatMap((hunk) => hunk.split("\n")),
  ]);
  const json = { code, detail, files, ...(task ? { task_id: task } : {}) };
  return { json, text: [...shown, "", detail, ...(task ? [`The task for it: ${task}`] : [])], code: 1 };
}

async function comment({ client, path, args: [place, text], flags }: One): Promise<Answer> {
  if (flags["delete"] !== undefined) {
    await assertMeant(`Delete the comment ${flags["delete"]}?`, flags);
    await client.call("DELETE", `${path}/comments/${encodeURIComponent(String(flags["delete"]))}`);
    return { json: { deleted: flags["delete"] }, text: `${flags["delete"]} deleted` };
  }
  if (place === undefined) return listComments(client, path);
  if (text === undefined) throw badUsage('Say what is to be done there: skep comment ID FILE:LINE "…"');
  const [, file = place, line] = /^(.*):(\d+)$/.exec(place) ?? [];
  const side = flags["old"] ? ("old" as const) : ("new" as const);
  const body = { path: file, ...(line ? { line: Number(line) } : {}), side, body: text };
  const made = await client.call("POST", `${path}/comments`, body);
  return { json: made, text: `${made["id"]} on ${placeText(made)}` };
}

type Remark = RowOf<`/v1/changes/${string}/comments`>;

const placeText = ({ path, line, side }: Remark): string =>
  path === null ? "the change" : `${path}${line === null ? "" : `:${line}`}${side === "old" ? " (old)" : ""}`;

async function listComments(client: Client, path: One["path"]): Promise<Answer> {
  const { items } = await listItems(client, `${path}/comments` as const, 500);
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
    text: items.length === 0 ? "No comments. Write one: skep comment ID FILE:LINE TEXT" : table,
  };
}
