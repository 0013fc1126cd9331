/** `skep cookies`: your sets of browser cookies, and the agents that receive them. Values are never shown. */
import type { RowOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { readFileOrInput } from "../read-input.ts";
import { formatCount, timeText } from "../terminal/table.ts";
import { type Answer, type Call, type Resource, verbMakers } from "./resource.ts";
import { assertAgents, deleteVerb, listOf } from "./words.ts";

type List = "/v1/browser/cookies";
type Item = RowOf<List>;
const { actOnList, actOnOne } = verbMakers<List>();

const PATH = "/v1/browser/cookies";
const AGENTS = { name: "<agent...>", about: "ids of the agents" };

export const cookies: Resource<List> = {
  name: "cookies",
  one: "cookie-set",
  about: "list your sets of browser cookies, which agents get while they work for you; or show one",
  path: PATH,
  idOf: ({ id }) => id,
  namesOf: ({ name }) => [name],
  columns: [
    { head: "NAME", of: ({ name }) => name },
    { head: "COOKIES", of: ({ cookie_count }) => cookie_count, right: true },
    {
      head: "EXPIRE",
      of: ({ expired, expires_at }) => (expired ? "expired" : timeText(expires_at) || "with the session"),
    },
    { head: "GRANTED TO", of: ({ granted_agents }) => granted_agents.join(", ") || "nobody", shrinks: true },
    { head: "DOMAINS", of: ({ domains }) => domains.join(", "), shrinks: true },
    { head: "ID", of: ({ id }) => id },
  ],
  empty: "No cookies yet. Add those of a browser: skep cookies add cookies.txt",
  verbs: [
    actOnList("add", "store the cookies of a Netscape cookie file as a set", {
      args: [{ name: "<file>", about: "Netscape cookie file, as a browser's export writes it; - for standard input" }],
      options: [
        { flags: "--name <text>", about: "name of the set (default: the file's name without .txt)" },
        { flags: "--grant <agents>", about: "ids of agents to grant the set to, separated by commas" },
      ],
      run: add,
    }),
    actOnOne("grant", "grant a set of cookies to agents", {
      args: [AGENTS],
      run: (call) => grant(call, call.item, call.args),
    }),
    actOnOne("revoke", "take a set of cookies away from agents; work that is running keeps it until it ends", {
      args: [AGENTS],
      async run({ client, item, args }) {
        for (const agent of args) await client.call("DELETE", placeOf(agent, item));
        return { json: { revoked: args }, text: `${item["name"]}: taken from ${args.join(", ")}` };
      },
    }),
    deleteVerb("delete a set of cookies and its grants", (item: Item) => `cookies ${item["name"]}`),
  ],
};

const placeOf = (agent: string, { id }: Pick<Item, "id">) =>
  `${PATH}/agents/${encodeURIComponent(agent)}/${id}` as const;

async function add(call: Pick<Call, "client" | "args" | "flags">): Promise<Answer> {
  const { client, args, flags } = call;
  const path = args[0]!;
  if (path === "-" && flags["name"] === undefined)
    throw badUsage("Standard input has no name: name the set with --name TEXT.");
  const agents = listOf(flags["grant"] ?? "");
  await assertAgents(client, agents);
  const file = await readFileOrInput(path);
  const set = await client.upload<Item>(PATH, file, { name: flags["name"] ?? file.name.replace(/\.txt$/, "") });
  return agents.length > 0 ? grant(call, set, agents) : { json: set, text: textOf(set) };
}

async function grant({ client }: Pick<Call, "client">, set: Item, agents: readonly string[]): Promise<Answer> {
  await assertAgents(client, agents);
  for (const agent of agents) await client.call("POST", `${placeOf(agent, set)}/grant`);
  const now = await client.call("GET", `${PATH}/${set["id"]}`);
  return { json: now, text: textOf(now) };
}

const textOf = ({ name, cookie_count, granted_agents }: Item): string =>
  `${name}: ${formatCount(cookie_count, "cookie")}, granted to ${granted_agents.join(", ") || "nobody (skep cookies grant SET AGENT)"}`;
