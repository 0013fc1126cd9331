/** `skep pipelines`: the pipelines that runs follow. */
import type { RowOf } from "../../api/types.ts";
import { badUsage, Problem } from "../../core/errors.ts";
import { readText } from "../read-input.ts";
import type { Client } from "../server/client.ts";
import { fieldLines, formatCount, tableLines } from "../terminal/table.ts";
import { type Resource, verbMakers } from "./resource.ts";
import { deleteVerb } from "./words.ts";

type List = "/v1/pipelines";
type Item = RowOf<List>;
const { actOnList, actOnOne } = verbMakers<List>();

const problemText = ({ line, column, message }: Item["problems"][number]): string => `${line}:${column}  ${message}`;

/** Names who does a step. */
function workOf(step: Item["steps"][number]): string {
  if ("run" in step) return "a command";
  return "agent" in step ? `${step.agent}${"for_each" in step ? ", for each" : ""}` : "a person";
}

export const pipelines: Resource<List> = {
  name: "pipelines",
  one: "pipeline",
  about: "list the pipelines that runs follow, or show one",
  path: "/v1/pipelines",
  idOf: ({ id }) => id,
  columns: [
    { head: "PIPELINE", of: ({ id }) => id },
    { head: "STEPS", of: ({ steps }) => steps.length, right: true },
    {
      head: "STATE",
      of: ({ valid }) => (valid ? "ready" : "broken"),
      style: ({ valid }) => (valid ? undefined : "red"),
    },
    { head: "INPUTS", of: ({ inputs }) => Object.keys(inputs).join(", "), shrinks: true },
    { head: "DESCRIPTION", of: ({ description }) => description, shrinks: true },
  ],
  empty: "No pipelines. The shipped ones come back when the server starts on a new data folder.",
  async show(pipeline) {
    const inputs = Object.entries(pipeline["inputs"]);
    return [
      ...fieldLines([
        ["pipeline", pipeline["id"]],
        ["name", pipeline["name"]],
        ["description", pipeline["description"]],
        ["file", pipeline["source_file"]],
        ["changed", pipeline["updated_at"]],
        ["inputs", inputs.map(([name, { required }]) => (required ? `${name} (required)` : name))],
      ]),
      "",
      ...tableLines(
        [
          { head: "STEP", of: ({ id }) => id },
          { head: "BY", of: workOf },
          { head: "AFTER", of: ({ needs }) => needs?.join(", ") ?? "the one above" },
        ],
        pipeline["steps"],
      ),
      ...(pipeline["problems"].length > 0 ? ["", "Problems:", ...pipeline["problems"].map(problemText)] : []),
    ];
  },
  verbs: [
    actOnOne("source", "print a pipeline's file", async ({ client, path }) => {
      const pipeline = await client.call("GET", path);
      const source: string = pipeline["source"];
      return { json: pipeline, text: source.trimEnd(), exact: source };
    }),
    actOnList("save", "create a pipeline from a file, or replace the pipeline that has its id", {
      args: [{ name: "<file>", about: "YAML file of the pipeline; - for standard input" }],
      async run({ client, args: [file] }) {
        const saved = await save(client, file!);
        return { json: saved, text: `saved ${saved["id"]}, ${formatCount(saved["steps"].length, "step")}` };
      },
    }),
    deleteVerb("delete a pipeline; runs of it continue", (item: Item) => `pipeline ${item["id"]}`),
  ],
};

async function save(client: Client, file: string): Promise<Item> {
  const source = await readText(file);
  const id = /^id:\s*["']?([a-z0-9][a-z0-9-]*)/m.exec(source)?.[1];
  if (id === undefined) {
    if (file === "-") throw badUsage("What comes on standard input names no id, such as `id: greet`.");
    throw badUsage(`${file} names no id. See: skep check ${file}`);
  }
  try {
    return await client.call("PUT", `/v1/pipelines/${id}`, { source });
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 404) throw error;
    return client.call("POST", "/v1/pipelines", { source });
  }
}
