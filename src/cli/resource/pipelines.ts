/** `skep pipelines`: what runs are made of. */
import type { Method } from "../../api/types.ts";
import { Problem } from "../../core/errors.ts";
import { readText } from "../read-input.ts";
import { fieldLines, tableLines } from "../terminal/table.ts";
import type { AnyResource, Loose } from "./resource.ts";
import { deleteVerb } from "./words.ts";

const problemText = ({ line, column, message }: Loose): string => `${line}:${column}  ${message}`;

/** Who does a step. */
const workOf = ({ agent, for_each }: Loose): string => (agent ? `${agent}${for_each ? ", for each" : ""}` : "a person");

export const pipelines: AnyResource = {
  name: "pipelines",
  one: "pipeline",
  about: "pipelines that runs are made of",
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
    const inputs = Object.entries<Loose>(pipeline["inputs"]);
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
    {
      name: "source",
      about: "print a pipeline's file",
      on: "one",
      async run({ client, path }) {
        const pipeline = await client.ask("GET", path);
        const source: string = pipeline["source"];
        return { json: pipeline, text: source.trimEnd(), exact: source };
      },
    },
    {
      name: "save",
      about: "create a pipeline from a file, or replace the one with its id",
      on: "none",
      args: [{ name: "<file>", about: "YAML; - for standard input" }],
      async run({ client, args: [file] }) {
        const saved = await save(file!, (method, path, body) => client.ask(method, path, body));
        return { json: saved, text: `saved ${saved["id"]}, ${saved["steps"].length} steps` };
      },
    },
    deleteVerb("delete a pipeline; runs of it continue", (item: Loose) => `pipeline ${item["id"]}`),
  ],
};

async function save(
  file: string,
  call: (method: Method, path: string, body: unknown) => Promise<Loose>,
): Promise<Loose> {
  const source = await readText(file);
  const id = /^id:\s*["']?([a-z0-9][a-z0-9-]*)/m.exec(source)?.[1];
  if (id === undefined) throw new Problem(422, "bad_usage", `${file} names no id. See: skep check ${file}`);
  try {
    return await call("PUT", `/v1/pipelines/${id}`, { source });
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 404) throw error;
    return call("POST", "/v1/pipelines", { source });
  }
}
