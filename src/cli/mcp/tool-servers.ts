/** Commands for tool servers: list, add, import, approve, grant, follow the log. */

import type { AnswerOf, BodyOf, RowOf } from "../../api/types.ts";
import { badUsage, Problem } from "../../core/errors.ts";
import type { SkepEvent } from "../../core/events.ts";
import { isObject, textIn } from "../../core/is-object.ts";
import { JsonTooMuch, readJson } from "../../core/json-reader.ts";
import { INTERRUPTED, stopAtInterrupt } from "../interrupt.ts";
import { readText } from "../read-input.ts";
import { PROJECT, projectHere } from "../resource/project-here.ts";
import { type Answer, type Call, type Resource, verbMakers } from "../resource/resource.ts";
import { assertMeant, deleteVerb, listVerb, statusStyle, switchVerbs, YES } from "../resource/words.ts";
import { ownColoursOnly, paint } from "../terminal/style.ts";
import { fieldLines, formatCount, tableLines } from "../terminal/table.ts";

type List = "/v1/mcp";
type Item = RowOf<List>;
type Tool = Item["tools"][number];
type One = Call<Item, `${List}/${string}`>;
const { actOnList, actOnOne } = verbMakers<List>();

const AGENTS = { name: "<agent...>", about: "ids of the agents, or all for every agent" };
const MOST = 1_000;
const listWaiting = ({ tools }: Item): Tool[] => tools.filter(({ state }) => state === "new" || state === "changed");
const listReady = ({ tools }: Item): Tool[] => tools.filter(({ state }) => state === "ready");
const agentsOf = ({ agents }: Item): string => (agents.includes("*") ? "all agents" : agents.join(", ") || "nobody");

const answer = (item: Item) => ({ json: item, text: lineOf(item) });
const lineOf = (one: Item): string => {
  const tail = one["error"] ? `: ${one["error"]}` : "";
  const wait =
    listWaiting(one).length > 0 ? `, ${listWaiting(one).length} listWaiting (skep mcp approve ${one["id"]})` : "";
  return `${one["id"]} ${one["status"]}${tail}; ${formatCount(listReady(one).length, "tool")}${wait}; granted to ${agentsOf(one)}`;
};

const show = actOnOne("show", "show a tool server and the descriptions of its tools", async ({ client, path }) => {
  const one = await client.call("GET", path);
  const { tools: _, ...fields } = one;
  const lines = one["tools"].flatMap((tool) => [
    `${tool["agent_tool"]}  ${tool["state"]}${tool["problem"] ? `: ${tool["problem"]}` : ""}`,
    ...(tool["approved"] ? [`    approved: ${shorten(tool["approved"].description)}`] : []),
    `    ${shorten(tool["description"])}`,
  ]);
  return { json: one, text: [...fieldLines(Object.entries(fields)), "", ...lines] };
});
const SHOWN = 300;
const shorten = (text: string): string => text.replace(/\s+/g, " ").slice(0, SHOWN);

function pairsOf(given: readonly string[] | undefined, separator: string): Record<string, string> {
  return Object.fromEntries(
    (given ?? []).map((pair) => {
      const at = pair.indexOf(separator);
      if (at < 1) throw badUsage(`${pair.slice(0, 40)}: give NAME${separator}VALUE.`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}

const add = actOnList("add", "register a tool server, by its address or by a command to run in a container", {
  args: [
    { name: "<name>", about: "id of the tool server; the names of its tools begin with it" },
    {
      name: "[what...]",
      about: "address of the server, or the command that starts it (after -- if the command has options)",
    },
  ],
  options: [
    { flags: "--image <image>", about: "container image to run the command in" },
    {
      flags: "--env <pairs...>",
      about: `environment variables of the command, as NAME=VALUE; \${secret:NAME} is a stored secret`,
    },
    {
      flags: "--header <pairs...>",
      about: `headers of requests to the address, as 'NAME: VALUE'; \${secret:NAME} is a stored secret`,
    },
    { flags: "--sse", about: "the address speaks the older SSE transport" },
    { flags: "--network <network>", about: "network of the container", choices: ["none", "bridge"] },
    {
      flags: "--grant <agents>",
      about: "ids of agents that may use the server, separated by commas, or all for every agent",
    },
    { flags: "--timeout <ms>", about: "time limit of one call, in milliseconds" },
    {
      flags: "--elicitation <how>",
      about: "what to do when the server asks for a form during a call: refuse, or fill in the form's defaults",
      choices: ["off", "defaults"],
    },
    { flags: "--oauth-client <id>", about: "client id that you registered for the log-in to this server" },
    { flags: "--oauth-secret <secret>", about: `secret of the client; \${secret:NAME} is a stored secret` },
    { flags: "--oauth-issuer <address>", about: "address of the authorization server that knows the client" },
    { flags: "--disabled", about: "register the server switched off" },
  ],
  async run({ client, path, args: [id = "", ...what], flags }) {
    const isAddress = /^https?:\/\//.test(what[0] ?? "");
    const headers = pairsOf(flags["header"], ":");
    const env = pairsOf(flags["env"], "=");
    const [command, ...args] = what;
    const body: BodyOf<"POST", List> = {
      id,
      enabled: flags["disabled"] !== true,
      ...(isAddress
        ? { transport: flags["sse"] ? "sse" : "http", url: what[0], headers }
        : { transport: "stdio", command: command ?? null, args, env, image: flags["image"] ?? null }),
      ...(flags["elicitation"] ? { elicitation: flags["elicitation"] } : {}),
      ...oauthOf(flags),
      ...(flags["network"] ? { network: flags["network"] } : {}),
      ...(flags["grant"] ? { agents: agentIds(String(flags["grant"]).split(",")) } : {}),
      ...(flags["timeout"] ? { timeout_ms: Number(flags["timeout"]) } : {}),
    };
    return answer(await client.call("POST", path, body));
  },
});

function oauthOf({ oauthClient, oauthSecret, oauthIssuer }: Call["flags"]): object {
  if (!oauthClient && !oauthSecret && !oauthIssuer) return {};
  if (!oauthClient || !oauthIssuer) throw badUsage("Give --oauth-client and --oauth-issuer together.");
  const secret = oauthSecret ? { client_secret: oauthSecret } : {};
  return { oauth: { client_id: oauthClient, issuer: oauthIssuer, ...secret } };
}

const agentIds = (words: readonly string[]): string[] =>
  words.map((word) => (word === "all" ? "*" : word)).filter(Boolean);

const importVerb = actOnList(
  "import",
  "register the tool servers in a file (mcpServers, or a registry's server.json); starts none",
  {
    args: [{ name: "<file>", about: "JSON file with the tool servers; - for standard input" }],
    options: [{ flags: "--image <image>", about: "container image for the tool servers that run a command" }],
    async run({ client, path, args: [file], flags }) {
      let config: unknown;
      try {
        config = readJson(await readText(file!));
      } catch (error) {
        if (error instanceof Problem) throw error;
        if (error instanceof JsonTooMuch) throw badUsage(`${file} is ${error.fault}.`);
        throw badUsage(`${file} is not JSON.`);
      }
      if (!isObject(config)) throw badUsage(`${file} is not a JSON object.`);
      const image = flags["image"] ? { image: flags["image"] } : {};
      return importedText(await client.call("POST", `${path}/import`, { config, ...image }));
    },
  },
);

const proposed = actOnList("proposed", "list or register the tool servers in a project's .mcp.json", {
  args: [
    {
      name: "[server...]",
      about: "names of the servers to register, as in .mcp.json; they are registered switched off",
    },
  ],
  options: [PROJECT, { flags: "--image <image>", about: "container image for the tool servers that run a command" }],
  async run({ client, args: names, flags }) {
    const project = await projectHere(client, flags);
    const address = `/v1/projects/${project["id"]}/tool-servers` as const;
    const found = await client.call("GET", address);
    const { items, commit } = found;
    if (commit === null) return { json: found, text: "The repository has no .mcp.json." };
    if (names.length > 0) {
      const image = flags["image"] ? { image: String(flags["image"]) } : {};
      return importedText(await client.call("POST", address, { commit, names: [...names], ...image }));
    }
    const columns = [
      { head: "SERVER", of: ({ name }: (typeof items)[number]) => name },
      { head: "WHERE", of: (one: (typeof items)[number]) => one.url ?? one.command.join(" "), shrinks: true },
      { head: "VALUES", of: (one: (typeof items)[number]) => one.values.join(", "), shrinks: true },
      {
        head: "NOTE",
        of: (one: (typeof items)[number]) => one.reason ?? (one.is_registered ? `registered as ${one.id}` : ""),
      },
    ];
    return { json: found, text: items.length === 0 ? "There are no servers in it." : tableLines(columns, items) };
  },
});

function importedText(read: AnswerOf<"POST", `${List}/import`>): Answer {
  const text = [
    ...read["created"].map(({ id }) => `${id}: imported, switched off (skep mcp enable ${id})`),
    ...read["left_out"].map(({ name, reason }) => `${name}: left out. ${reason}`),
  ];
  return { json: read, text: text.length > 0 ? text : "There are no servers in it." };
}

const approve = actOnOne("approve", "approve new and changed tools of a tool server", {
  args: [
    { name: "[tool...]", about: "names of the tools, as the server gives them (default: all that wait for approval)" },
  ],
  async run({ client, path, args }) {
    const now = await client.call("GET", path);
    const named = args.length > 0 ? args : listWaiting(now).map(({ name }) => name);
    if (named.length === 0) return { json: now, text: `${now["id"]}: no tool waits for approval` };
    // Send the tools' hashes: the server refuses a tool that has changed meanwhile.
    const tools = named.map((name) => ({
      name,
      hash: now["tools"].find((tool) => tool["name"] === name)?.hash,
    }));
    return answer(await client.call("POST", `${path}/approve`, { tools }));
  },
});

async function changeAgents({ client, path }: One, next: (now: string[]) => string[]) {
  const { agents } = await client.call("GET", path);
  return answer(await client.call("PUT", path, { agents: next(agents) }));
}

const grant = actOnOne("grant", "let agents use the tools of a tool server", {
  args: [AGENTS],
  run: (call) => changeAgents(call, (now) => [...new Set([...now, ...agentIds(call.args)])]),
});

const revoke = actOnOne("revoke", "take the tools of a tool server away from agents", {
  args: [AGENTS],
  run: (call) => changeAgents(call, (now) => now.filter((agent) => !agentIds(call.args).includes(agent))),
});

const restart = actOnOne("restart", "start a tool server again", async ({ client, path }) =>
  answer(await client.call("PATCH", `${path}/status`, { status: "running" })),
);

const authorize = actOnOne(
  "authorize",
  "log in to a tool server that asks for it; prints an address to open in a browser",
  {
    options: [{ flags: "--forget", about: "delete the stored tokens of the authorization server instead" }, YES],
    async run({ client, item, path, flags }) {
      if (flags["forget"]) {
        await assertMeant(`Forget the log-in to ${item["id"]}?`, flags);
        await client.call("DELETE", `${path}/authorization`);
        return { json: { forgotten: true }, text: "forgotten" };
      }
      const started = await client.call("POST", `${path}/authorize`);
      return { json: started, text: ["Open this address in a browser:", started["authorization_url"]] };
    },
  },
);

const logs = actOnOne("logs", "show the log of a tool server: what it prints, and what happened to it", {
  options: [
    { flags: "--tail <n>", about: "number of last lines to begin with", default: "100" },
    { flags: "--follow", about: "print new lines until Ctrl-C" },
  ],
  async run({ client, item, flags }) {
    const stop = stopAtInterrupt();
    const query = new URLSearchParams({
      server_id: item["id"],
      tail: String(flags["tail"]),
      follow: String(!!flags["follow"]),
    });
    const lines: SkepEvent[] = [];
    for await (const line of client.events(`/v1/mcp/logs?${query}`, stop.signal)) {
      if (textIn(line, "text") === undefined) break;
      if (!flags["follow"]) lines.push(line);
      else console.log(flags["json"] ? JSON.stringify(line) : ownColoursOnly(logText(line)));
    }
    return { json: lines, text: lines.map(logText), ...(stop.signal.aborted ? { code: INTERRUPTED } : {}) };
  },
});

/** A line of a tool server's log has a time, as events have, and its own fields `stream` and `text`. */
const logText = (line: SkepEvent): string =>
  `${paint("dim", new Date(line.at).toTimeString().slice(0, 8))} ${paint("cyan", textIn(line, "stream") ?? "")} ${textIn(line, "text")}`;

export const toolServers: Resource<List> = {
  name: "mcp",
  one: "server",
  about: "list the tool servers that agents use, or show one",
  path: "/v1/mcp",
  idOf: ({ id }) => id,
  namesOf: ({ name }) => [name],
  columns: [
    { head: "SERVER", of: ({ id }) => id },
    {
      head: "STATUS",
      of: ({ status }) => status,
      style: ({ status }) => statusStyle(status === "error" ? "failed" : status),
    },
    { head: "TOOLS", of: (one) => String(listReady(one).length), right: true },
    { head: "WAITING", of: (one) => String(listWaiting(one).length || ""), right: true },
    { head: "GRANTED TO", of: agentsOf, shrinks: true },
    {
      head: "WHERE",
      of: ({ url, image, command, args }) => url ?? image ?? [command, ...args].join(" "),
      shrinks: true,
    },
    { head: "ERROR", of: ({ error }) => error ?? "", shrinks: true },
  ],
  empty: "No tool servers yet. Add one: skep mcp add NAME URL, or skep mcp add NAME --image IMAGE COMMAND…",
  verbs: [
    listVerb("list the tool servers", MOST, () => toolServers),
    show,
    add,
    importVerb,
    proposed,
    approve,
    grant,
    revoke,
    ...switchVerbs("switch a tool server on", "switch a tool server off", (one: Item) => [lineOf(one)]),
    restart,
    authorize,
    logs,
    deleteVerb(
      "delete a tool server and the data that it stored",
      ({ id }: Item) => `tool server ${id}, with what it kept`,
    ),
  ],
};
