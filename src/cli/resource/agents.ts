/** `skep agents`: the agents that do the work. */
import type { RowOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { HARNESS_NAMES } from "../../core/harness-names.ts";
import { didYouMean } from "../../core/near.ts";
import { readPairs, readText } from "../read-input.ts";
import { fieldLines, tableLines } from "../terminal/table.ts";
import { RULE_VERBS } from "./agent-rules.ts";
import { type Call, type Resource, type Verb, verbMakers } from "./resource.ts";
import { ALLOWED_HOST, bodyOf, deleteVerb, listOf, readAllowedHost, statusStyle } from "./words.ts";

type List = "/v1/agents";
type Item = RowOf<List>;
type One = Call<Item, `${List}/${string}`>;
const { actOnList, actOnOne } = verbMakers<List>();

const stateOf = ({ enabled, problems, status }: Item): string =>
  problems.length > 0 ? "broken" : enabled ? status : "off";

export const agents: Resource<List> = {
  name: "agents",
  one: "agent",
  about: "list the agents, or show one",
  path: "/v1/agents",
  idOf: ({ id }) => id,
  columns: [
    { head: "AGENT", of: ({ id }) => id },
    {
      head: "STATE",
      of: stateOf,
      style: (agent) => (agent["problems"].length > 0 ? "red" : statusStyle(agent["status"])),
    },
    { head: "MODEL", of: ({ model }) => model ?? "(default)" },
    { head: "RUNS", of: ({ counts }) => counts.runs, right: true },
    { head: "SECRETS", of: ({ counts }) => counts.secrets, right: true },
    { head: "DESCRIPTION", of: ({ description }) => description, shrinks: true },
  ],
  empty: "No agents. Add one: skep agents add ID --prompt FILE",
  show: async (agent) => linesOf(agent),
  verbs: [
    actOnList("add", "create an agent", {
      args: [{ name: "<id>", about: "id of the new agent: lower-case letters, digits and hyphens" }],
      options: [
        { flags: "--prompt <file>", about: "file with the agent's instructions; - for standard input", default: "-" },
        { flags: "--name <text>", about: "display name" },
        { flags: "--description <text>", about: "what the agent is for" },
        { flags: "--model <provider/model>", about: "model that the agent uses" },
        { flags: "--harness <name>", about: `external agent that drives the agent: ${HARNESS_NAMES.join(", ")}` },
        {
          flags: "--credentials <whose>",
          choices: ["gateway", "own"],
          about:
            "where the external agent's model calls go: Skep's gateway, or its vendor with the starting user's log-in",
        },
      ],
      async run({ client, path, args: [id = ""], flags }) {
        const words = { name: "name", description: "description", model: "model" };
        const fields = bodyOf(flags, { ...words, harness: "harness", credentials: "credentials" });
        const agent = await client.call("POST", path, { ...fields, id, prompt: await readText(flags["prompt"]) });
        return { json: agent, text: linesOf(agent) };
      },
    }),
    actOnOne("set", "change an agent, e.g. model=ollama/qwen3 max_turns=40 tools=read_file,bash; null resets a field", {
      args: [{ name: "<field=value...>", about: "fields as `skep agents AGENT` shows them" }],
      run: (call) => configure(call, readPairs(call.args)),
    }),
    switchVerb("enable", "let an agent work", true),
    switchVerb("disable", "keep an agent from working", false),
    actOnOne("tool", "show an agent's tools, or switch one on or off", {
      args: [
        { name: "[tool]", about: "name of the tool" },
        {
          name: "[state]",
          about: "whether the agent may use the tool; default: as the agent's file says",
          choices: ["on", "off", "default"],
        },
      ],
      run: switchTool,
    }),
    actOnOne("allow", "add a network host that an agent's programs may reach", {
      args: [ALLOWED_HOST],
      async run({ client, path, args: [given = ""] }) {
        const { entry, ...body } = readAllowedHost(given);
        const agent = await client.call("POST", `${path}/allowed-hosts`, body);
        return { json: agent, text: `${agent["id"]} may reach ${entry} from its next sandbox on.` };
      },
    }),
    ...RULE_VERBS,
    deleteVerb("delete an agent with its skills", (item: Item) => `agent ${item["id"]}`),
  ],
};

function linesOf(agent: Item): string[] {
  const problems = agent.problems.map(({ line, column, message }) => `${line}:${column}  ${message}`);
  return [
    ...fieldLines([
      ["agent", agent["id"]],
      ["name", agent["name"]],
      ["role", agent["role"]],
      ["description", agent["description"]],
      ["state", stateOf(agent)],
      ["file", agent["source_file"]],
      ["tools", agent["tools"]],
      ["skills", agent["skills"]],
      ["permissions", agent["rules"]],
      ...Object.entries<unknown>(agent["config"])
        .filter(([name]) => name !== "tools" && name !== "permissions")
        .map(([name, value]): [string, unknown] => [name, name === "network" ? networkWords(value) : value]),
    ]),
    ...(problems.length > 0 ? ["", "Problems:", ...problems] : []),
  ];
}

const networkWords = (network: unknown): unknown =>
  typeof network === "object" && network !== null && "allow" in network ? `only ${String(network.allow)}` : network;

/** Members of an agent that are not settings. */
const IDENTITY = ["name", "emoji", "role", "description", "enabled", "prompt"];

/**
 * Refuses fields that the server would ignore. @throws Problem 422 `bad_usage`, because a mistyped field would change
 * nothing.
 */
function assertFields({ config }: Item, given: readonly string[]): void {
  const names = [...IDENTITY, ...Object.keys(config)];
  const wrong = given.find((name) => !names.includes(name));
  if (wrong === undefined) return;
  throw badUsage(`An agent has no field ${wrong}. ${didYouMean(wrong, names) || `It has: ${names.join(", ")}.`}`);
}

async function configure({ client, item, path }: One, fields: Record<string, unknown>) {
  assertFields(item, Object.keys(fields));
  const tools = fields["tools"];
  const body = typeof tools === "string" ? { ...fields, tools: listOf(tools) } : fields;
  const agent = await client.call("PUT", `${path}/config`, body);
  return { json: agent, text: linesOf(agent) };
}

function switchVerb(name: string, about: string, enabled: boolean): Verb<Item, List> {
  return actOnOne(name, about, (call) => configure(call, { enabled }));
}

async function switchTool({ client, item, args: [name, state] }: One) {
  const path = `/v1/agent-tools/${item.id}` as const;
  if (name !== undefined && state === "default") await client.call("DELETE", `${path}/${encodeURIComponent(name)}`);
  else if (name !== undefined && state !== undefined)
    await client.call("PUT", `${path}/${encodeURIComponent(name)}`, { enabled: state === "on" });
  const agent = await client.call("GET", `/v1/agents/${item["id"]}`);
  const { items } = await client.call("GET", `${path}?limit=200`);
  const overrides = new Map<string, boolean>(items.map((one) => [one["tool"], one["enabled"]]));
  const own: string[] = agent["tools"];
  const rows = [...new Set([...own, ...overrides.keys()])]
    .filter((one) => name === undefined || one === name)
    .map((one) => ({
      tool: one,
      state: own.includes(one) ? "on" : "off",
      by: overrides.has(one) ? "override" : "its file",
    }));
  const text = tableLines(
    [
      { head: "TOOL", of: (row) => row.tool },
      { head: "STATE", of: (row) => row.state },
      { head: "BY", of: (row) => row.by },
    ],
    rows,
  );
  return { json: rows, text };
}
