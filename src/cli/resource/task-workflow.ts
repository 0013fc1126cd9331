/**
 * `skep tasks columns`, `policy` and `plan`: the board's columns, the stages of work, and the stages that apply to a
 * task.
 */

import type { Schemas } from "../../api/types.ts";
import { badUsage, unreadable } from "../../core/errors.ts";
import { membersOf } from "../../core/is-object.ts";
import { type Column, fieldLines, tableLines } from "../terminal/table.ts";
import { type Answer, type Call, verbMakers } from "./resource.ts";
import { readData } from "./task-import.ts";

const FILE = { name: "[file]", about: "JSON or YAML file with the new definition; - for standard input" };
/** The path of a board's list of tasks. */
export type Tasks = `/v1/projects/${string}/tasks`;
type Stage = Schemas["ResolveWorkflowProjectTaskAnswer"]["stages"][number];
const { actOnList } = verbMakers<Tasks>();

export const projectPath = (path: Tasks) => `/v1/projects/${path.split("/")[3]}` as const;

export const policyVerb = actOnList(
  "policy",
  "show the workflow policy: the stages that each kind of work goes through; with a file, set it",
  {
    args: [FILE],
    options: [
      { flags: "--wait-for-merge <yes|no>", about: "whether a task counts as done only when its work is merged" },
    ],
    async run({ client, path, args: [file], flags }) {
      const address = `${projectPath(path)}/workflow-policy` as const;
      const data = file === undefined ? {} : membersOf(await readData(file));
      const body = { ...data, ...waitOf(flags["waitForMerge"]) };
      const isChange = Object.keys(body).length > 0;
      const policy = isChange ? await client.call("PUT", address, body) : await client.call("GET", address);
      return { json: policy, text: policyLines(policy) };
    },
  },
);

function waitOf(word: string | undefined): { wait_for_merge?: boolean } {
  if (word === undefined) return {};
  if (word === "yes" || word === "no") return { wait_for_merge: word === "yes" };
  throw badUsage("--wait-for-merge takes yes or no.");
}

const stageColumns: readonly Column<Stage>[] = [
  { head: "STAGE", of: ({ stage }) => stage },
  { head: "", of: ({ disposition }) => disposition },
  {
    head: "BY",
    of: ({ agent_id, pipeline_id }) => agent_id ?? (pipeline_id ? `pipeline ${pipeline_id}` : "a person"),
  },
];

function policyLines({ exists, rules, wait_for_merge }: Schemas["ProjectWorkflowPolicy"]): string[] {
  if (!exists) return ["No policy: a task is done by the project's default pipeline. Set one: skep tasks policy FILE"];
  const rows = Object.entries(rules).flatMap(([work, stages]) => stages.map((stage) => ({ ...stage, work })));
  return [
    ...tableLines<Stage & { work: string }>([{ head: "WORK", of: ({ work }) => work }, ...stageColumns], rows),
    ...(wait_for_merge ? ["", "A task waits in review until its work is merged."] : []),
  ];
}

export const columnsVerb = actOnList("columns", "show the columns of a project's board; with a file, set them", {
  args: [FILE],
  options: [{ flags: "--standard", about: "go back to the columns that Skep ships with" }],
  async run({ client, path, args: [file], flags }) {
    if (file !== undefined && flags["standard"]) throw badUsage("Give a file, or --standard, not both.");
    const data = file === undefined ? undefined : await readData(file);
    const given = Array.isArray(data) ? data : membersOf(data)["columns"];
    const columns = Array.isArray(given) ? given : undefined;
    if (file !== undefined && !columns)
      throw unreadable('The file has no columns. Write [{"id", "name", "statuses"}, …].');
    const isChange = columns !== undefined || flags["standard"];
    const project = isChange
      ? await client.call("PUT", projectPath(path), { columns: columns ?? null })
      : await client.call("GET", projectPath(path));
    const text = tableLines(
      [
        { head: "COLUMN", of: ({ id }) => id },
        { head: "NAME", of: ({ name }) => name },
        { head: "STATUSES", of: ({ statuses }) => statuses.join(",") },
        { head: "LIMIT", of: ({ wip_limit }) => wip_limit, right: true, optional: true },
      ],
      project["columns"],
    );
    return { json: project["columns"], text };
  },
});

export async function planOf({ client, path, flags }: Call<unknown, `${Tasks}/${string}`>): Promise<Answer> {
  const body = flags["type"] === undefined ? {} : { work_type: flags["type"] };
  const plan = await client.call("POST", `${path}/resolve-workflow`, body);
  const stages = plan["stages"];
  const text = [
    ...fieldLines([
      ["kind of work", plan["work_type"]],
      ["why", plan["reason"]],
      ["pipeline", plan["pipeline_id"]],
      ["done", plan["completed"]],
      ["now", plan["current"]],
      ["then", plan["next"]],
      ["next statuses", plan["next_statuses"]],
    ]),
    ...(stages.length === 0 ? [] : ["", ...tableLines(stageColumns, stages)]),
  ];
  return { json: plan, text };
}
