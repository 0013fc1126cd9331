/** `skep tasks`: the board of a project. */
import type { BodyOf, RowOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { readText } from "../read-input.ts";
import type { Style } from "../terminal/style.ts";
import { fieldLines, tableLines, timeText } from "../terminal/table.ts";
import { findOne, listItems } from "./find.ts";
import { PROJECT, projectHere } from "./project-here.ts";
import { type Answer, type Call, type OptionSpec, type Resource, type Verb, verbMakers } from "./resource.ts";
import { answerFollowed } from "./runs.ts";
import { showBoard } from "./task-board.ts";
import { importTasks } from "./task-import.ts";
import { columnsVerb, planOf, policyVerb } from "./task-workflow.ts";
import { bodyOf, confirmVerb, deleteVerb, editVerb, listOf, statusStyle } from "./words.ts";

type List = `/v1/projects/${string}/tasks`;
type Item = RowOf<List>;
type Fields = BodyOf<"PUT", `${List}/${string}`>;
type One = Call<Item, `${List}/${string}`>;
const { actOnList, actOnOne } = verbMakers<List>();

const PRIORITIES = ["p0", "p1", "p2", "p3"];
const SHOWN = 200;

const CHOICES: readonly OptionSpec[] = [
  { flags: "--description <text>", about: "what to do; empty: only the title says it" },
  { flags: "--file <file>", about: "file that says what to do; - for standard input" },
  { flags: "--priority <priority>", about: "priority of the task; p0 is the most urgent", choices: PRIORITIES },
  { flags: "--type <type>", about: "kind of work: feature, bugfix, test, refactor, docs, …; empty: none" },
  { flags: "--agent <agent>", about: "agent that is to do the task; empty: none" },
  { flags: "--parent <task>", about: "task that this task is a part of; empty: none" },
  { flags: "--depends <tasks>", about: "tasks that must be done first, separated by commas; empty: none" },
  { flags: "--tags <tags>", about: "tags to find the task by, separated by commas; empty: none" },
  { flags: "--estimate <hours>", about: "estimated hours of work, e.g. 2 or 0.5; empty: unknown" },
];

async function fieldsOf({ client, flags }: Pick<Call, "client" | "flags">, list: List): Promise<Fields> {
  const { description, file, parent, depends, tags, estimate } = flags;
  if (description !== undefined && file !== undefined) throw badUsage("Give --description or --file, not both.");
  const idOf = async (word: string): Promise<string> => (await findOne(client, { ...tasks, path: list }, word)).id;
  return {
    ...bodyOf(flags, { priority: "priority", type: "work_type", agent: "assigned_agent" }),
    description: file === undefined ? description : await readText(file),
    parent_id: parent === "" ? null : parent && (await idOf(parent)),
    depends_on: depends === undefined ? undefined : await Promise.all(namesOf(depends).map(idOf)),
    tags: tags === undefined ? undefined : listOf(tags),
    estimate_hours: estimate === undefined ? undefined : hoursOf(estimate),
  };
}

/** Splits at commas only, because titles contain spaces. */
const namesOf = (text: string): string[] =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);

function hoursOf(text: string): number | null {
  if (text === "") return null;
  if (/^\d{1,5}(\.\d{1,3})?$/.test(text)) return Number(text);
  throw badUsage(`--estimate takes hours, e.g. 2 or 0.5; not ${text}.`);
}

const TASK_STYLES: Readonly<Record<string, Style>> = {
  in_progress: "cyan",
  review: "yellow",
  blocked: "red",
  done: "green",
};
const taskStyle = (status: string): Style | undefined => TASK_STYLES[status] ?? statusStyle(status);

const listPathOf = ({ item }: Call<Item>) => `/v1/projects/${item.project_id}/tasks` as const;

const VERBS: readonly Verb<Item, List>[] = [
  actOnList("board", "show the board of a project, its columns side by side", {
    options: [{ flags: "--cards <n>", about: "number of tasks to show of each status, from 1 to 100", default: "8" }],
    run: showBoard,
  }),
  actOnList("create", "create a task on the board", {
    args: [{ name: "<title>", about: "title of the task, in one line" }],
    options: [...CHOICES, { flags: "--status <status>", about: "status of the new task (default: backlog)" }],
    async run(call) {
      const {
        client,
        path,
        args: [title = ""],
        flags,
      } = call;
      const fields = { ...bodyOf(flags, { status: "status" }), ...(await fieldsOf(call, path)) };
      const made = await client.call("POST", path, { ...fields, title });
      return { json: made, text: linesOf(made) };
    },
  }),
  editVerb("edit", "change a task; options that you leave out keep their values (place and status: move, transition)", {
    options: [{ flags: "--title <text>", about: "title of the task, in one line" }, ...CHOICES],
    fieldsOf: async (call: One) => ({
      ...bodyOf(call.flags, { title: "title" }),
      ...(await fieldsOf(call, listPathOf(call))),
    }),
    linesOf,
  }),
  confirmVerb("confirm that you trust the words of a task that may come from outside text", linesOf),
  actOnOne("move", "move a task before or after another one, or into another status", {
    options: [
      { flags: "--to <status>", about: "new status of the task" },
      { flags: "--before <task>", about: "put the task before this one" },
      { flags: "--after <task>", about: "put the task after this one" },
    ],
    run: move,
  }),
  actOnOne("transition", "move a task to another status, and print the statuses that it may move to next", {
    args: [{ name: "<status>", about: "new status of the task" }],
    options: [
      { flags: "--note <text>", about: "reason for the move, kept in the task's history" },
      { flags: "--force", about: "ignore dependencies, column limits and required stages" },
    ],
    run: transition,
  }),
  actOnOne("claim", "claim a task for an agent, extend the claim, or release it", {
    args: [{ name: "<agent>", about: "agent that claims the task" }],
    options: [{ flags: "--release", about: "release the claim instead" }],
    async run({ client, path, args: [agent_id = ""], flags }) {
      const answer = await client.call("POST", `${path}/claim`, { agent_id, release: flags["release"] === true });
      return { json: answer, text: linesOf(answer["task"]) };
    },
  }),
  actOnOne("execute", "start the run in which agents do the next stages of a task", {
    options: [
      { flags: "--type <type>", about: "treat the task as this kind of work" },
      { flags: "--pipeline <id>", about: "pipeline to use instead of the one that the policy names" },
      { flags: "--follow", about: "show steps, tool calls and cost until the run ends" },
    ],
    async run({ client, path, flags }) {
      const body = { work_type: flags["type"], pipeline_id: flags["pipeline"] };
      const run = await client.call("POST", `${path}/execute`, body);
      if (!flags["follow"]) return { json: run, text: `${run["id"]}\nfollow it with: skep runs ${run["id"]} --follow` };
      return answerFollowed(run, client, flags);
    },
  }),
  actOnOne("plan", "show the stages of a task, those that are done, and the next one", {
    options: [{ flags: "--type <type>", about: "treat the task as this kind of work" }],
    run: planOf,
  }),
  actOnOne("history", "show the history of a task, newest first", showHistory),
  actOnList("import", "create many tasks from a JSON or YAML file; - for standard input", {
    args: [{ name: "<file>", about: "file with a list of tasks; other tasks refer to a task by its `key`" }],
    options: [{ flags: "--no-wait", about: "return at once; do not wait until the job has ended" }],
    run: importTasks,
  }),
  policyVerb,
  columnsVerb,
  deleteVerb("delete a task", (item: Item) => `task ${item["title"]}`),
];

export const tasks: Resource<List> = {
  name: "tasks",
  one: "task",
  about: "list the tasks of a project in the order of its board, or show one",
  path: "",
  within: {
    option: PROJECT,
    pathFor: async (client, flags) => `/v1/projects/${(await projectHere(client, flags))["id"]}/tasks`,
  },
  idOf: ({ id }) => id,
  namesOf: ({ title }) => [title],
  columns: [
    { head: "TASK", of: ({ title }) => title, shrinks: true },
    { head: "STATUS", of: ({ status }) => status, style: ({ status }) => taskStyle(status) },
    { head: "PRIO", of: ({ priority }) => priority, style: ({ priority }) => (priority === "p0" ? "red" : undefined) },
    { head: "TYPE", of: ({ work_type }) => work_type, optional: true },
    { head: "AGENT", of: ({ assigned_agent }) => assigned_agent, optional: true },
    { head: "TAGS", of: ({ tags }) => tags.join(","), shrinks: true, optional: true },
    { head: "ID", of: ({ id }) => id },
  ],
  filters: [
    { flags: "--status <status>", about: "only tasks with this status", query: "status" },
    { flags: "--priority <priority>", about: "only tasks with this priority", query: "priority", choices: PRIORITIES },
    { flags: "--agent <agent>", about: "only tasks of this agent", query: "agent_id" },
    { flags: "--tag <tag>", about: "only tasks with this tag", query: "tag" },
    { flags: "--search <words>", about: "only tasks with these words in the title", query: "q" },
    { flags: "--ready", about: "only tasks that can be started, the most urgent first", query: "ready" },
  ],
  empty: "No tasks yet. Make one: skep tasks create TITLE",
  show: async (task) => linesOf(task),
  verbs: VERBS,
};

/** @param task the task. The answer to a move also has the statuses that it may move to next. */
function linesOf(task: Item & { next_statuses?: readonly string[] }): string[] {
  const { next_statuses: next } = task;
  return [
    ...fieldLines([
      ["task", task["title"]],
      ["id", task["id"]],
      ["status", task["status"]],
      ["next", next],
      ["unconfirmed because", task["outside"]],
      ["priority", task["priority"]],
      ["type", task["work_type"]],
      ["agent", task["assigned_agent"]],
      ["until", task["lease_until"]],
      ["parent", task["parent_id"]],
      ["depends on", task["depends_on"]],
      ["found at", task["discovered_from"]],
      ["tags", task["tags"]],
      ["estimate", task["estimate_hours"] === null ? null : `${task["estimate_hours"]} h`],
      ["stages done", task["completed_stages"]],
      ["branch", task["branch"]],
      ["run", task["run_id"]],
      ["created", task["created_at"]],
      ["finished", task["finished_at"]],
    ]),
    ...(task["description"] === "" ? [] : ["", ...String(task["description"]).split("\n")]),
  ];
}

async function move(call: One): Promise<Answer> {
  const { client, path, flags } = call;
  const { to, before, after } = flags;
  if (to === undefined && before === undefined && after === undefined)
    throw badUsage("Say where to: --to STATUS, --before TASK or --after TASK.");
  const idOf = async (word: string | undefined) =>
    word === undefined ? undefined : (await findOne(client, { ...tasks, path: listPathOf(call) }, word)).id;
  const body = { status: to, before: await idOf(before), after: await idOf(after) };
  const moved = await client.call("POST", `${path}/move`, body);
  return { json: moved, text: linesOf(moved) };
}

async function transition({ client, path, args: [status = ""], flags }: One): Promise<Answer> {
  const body = { status, note: flags["note"], force: flags["force"] === true };
  const moved = await client.call("POST", `${path}/transition`, body);
  return { json: moved, text: linesOf(moved) };
}

async function showHistory({ client, path }: One): Promise<Answer> {
  const list = await listItems(client, `${path}/history`, SHOWN);
  const table = tableLines(
    [
      { head: "AT", of: ({ at }) => timeText(at) },
      { head: "CHANGE", of: ({ change }) => change },
      { head: "STATUS", of: ({ from_status, to_status }) => [from_status, to_status].filter(Boolean).join(" → ") },
      { head: "BY", of: ({ actor }) => actor, shrinks: true },
      { head: "NOTE", of: ({ note }) => note, shrinks: true, optional: true },
    ],
    list.items,
  );
  return { json: list, text: list.items.length === 0 ? "Nothing yet." : table };
}
