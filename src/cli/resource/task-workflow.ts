/** `skep tasks columns`, `policy` and `plan`: the board's columns, the stages of work, and what they mean for one task. */

import { Problem } from "../../core/errors.ts";
import { membersOf } from "../../core/is-object.ts";
import { fieldLines, tableLines } from "../terminal/table.ts";
import type { Answer, Call, Loose, Verb } from "./resource.ts";
import { readData } from "./task-import.ts";

const FILE = { name: "[file]", about: "JSON or YAML with the new ones; - for standard input" };
const projectPath = (path: string): string => path.replace(/\/tasks$/, "");

export const policyVerb: Verb = {
  name: "policy",
  about: "show the stages that work of each kind goes through; with a file, set them",
  on: "none",
  args: [FILE],
  options: [{ flags: "--wait-for-merge <yes|no>", about: "whether a task is done only when its work is merged" }],
  async run({ client, path, args: [file], flags }) {
    const address = `${projectPath(path)}/workflow-policy`;
    const data = file === undefined ? {} : membersOf(await readData(file));
    const body = { ...data, ...waitOf(flags["waitForMerge"]) };
    const policy = await client.ask(Object.keys(body).length > 0 ? "PUT" : "GET", address, optional(body));
    return { json: policy, text: policyLines(policy) };
  },
};

const optional = (body: Loose): Loose | undefined => (Object.keys(body).length > 0 ? body : undefined);

function waitOf(word: string | undefined): { wait_for_merge?: boolean } {
  if (word === undefined) return {};
  if (word === "yes" || word === "no") return { wait_for_merge: word === "yes" };
  throw new Problem(422, "bad_usage", "--wait-for-merge takes yes or no.");
}

const stageColumns = [
  { head: "STAGE", of: ({ stage }: Loose) => stage },
  { head: "", of: ({ disposition }: Loose) => disposition },
  {
    head: "BY",
    of: ({ agent_id, pipeline_id }: Loose) => agent_id ?? (pipeline_id ? `pipeline ${pipeline_id}` : "a person"),
  },
];

function policyLines({ exists, rules, wait_for_merge }: Loose): string[] {
  if (!exists) return ["No policy: a task is done by the project's default pipeline. Set one: skep tasks policy FILE"];
  const rows = Object.entries<Loose[]>(rules).flatMap(([work, stages]) => stages.map((stage) => ({ ...stage, work })));
  return [
    ...tableLines<Loose>([{ head: "WORK", of: ({ work }) => work }, ...stageColumns], rows),
    ...(wait_for_merge ? ["", "A task waits in review until its work is merged."] : []),
  ];
}

export const columnsVerb: Verb = {
  name: "columns",
  about: "show the columns of the board; with a file, set them",
  on: "none",
  args: [FILE],
  options: [{ flags: "--standard", about: "the shipped columns again" }],
  async run({ client, path, args: [file], flags }) {
    if (file !== undefined && flags["standard"])
      throw new Problem(422, "bad_usage", "Give a file, or --standard, not both.");
    const data = file === undefined ? undefined : await readData(file);
    const columns = Array.isArray(data) ? data : membersOf(data)["columns"];
    if (file !== undefined && !Array.isArray(columns))
      throw new Problem(422, "unreadable", 'The file has no columns. Write [{"id", "name", "statuses"}, …].');
    const isChange = columns !== undefined || flags["standard"];
    const project = isChange
      ? await client.ask("PUT", projectPath(path), { columns: columns ?? null })
      : await client.ask("GET", projectPath(path));
    const text = tableLines<Loose>(
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
};

export async function planOf({ client, path, flags }: Call): Promise<Answer> {
  const body = flags["type"] === undefined ? {} : { work_type: flags["type"] };
  const plan = await client.ask("POST", `${path}/resolve-workflow`, body);
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
    ...(stages.length === 0 ? [] : ["", ...tableLines<Loose>(stageColumns, stages)]),
  ];
  return { json: plan, text };
}
