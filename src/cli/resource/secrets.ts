/** `skep secrets`: encrypted values that agents receive as variables. A value is never an argument and never shown. */
import type { RowOf, Schemas } from "../../api/types.ts";
import { badUsage, Problem } from "../../core/errors.ts";
import { readSecret } from "../read-input.ts";
import { timeText } from "../terminal/table.ts";
import { type Call, type Flags, type Resource, verbMakers } from "./resource.ts";
import { assertAgents, bodyOf, deleteVerb, listOf } from "./words.ts";

type List = "/v1/secrets";
type Item = RowOf<List>;
type One = Call<Item, `${List}/${string}`>;
const { actOnList, actOnOne } = verbMakers<List>();

const AGENTS = { name: "<agent...>", about: "ids of the agents" };

export const secrets: Resource<List> = {
  name: "secrets",
  one: "secret",
  about: "list the secrets, sealed values that agents get as environment variables; or show one",
  path: "/v1/secrets",
  idOf: ({ secret_id }) => secret_id,
  namesOf: ({ name }) => [name],
  single: false,
  columns: [
    { head: "NAME", of: ({ name }) => name },
    { head: "TYPE", of: ({ secret_type }) => secret_type },
    { head: "VALUE", of: ({ masked_preview }) => masked_preview },
    { head: "FOR", of: ({ edge }) => (edge ? edge.hosts.join(", ") : "variable"), shrinks: true },
    { head: "GRANTED TO", of: ({ granted_agents }) => granted_agents.join(", ") || "nobody", shrinks: true },
    {
      head: "LAST USED",
      of: ({ last_used_at, last_used_by }) => (last_used_at ? `${timeText(last_used_at)} by ${last_used_by}` : "never"),
      shrinks: true,
    },
    { head: "CHANGED", of: ({ updated_at }) => timeText(updated_at) },
    { head: "DESCRIPTION", of: ({ description }) => description, shrinks: true },
  ],
  empty: "No secrets yet. Store one: skep secrets set NAME",
  verbs: [
    actOnList("set", "store a secret, or change its value; the value is asked for, or read from standard input", {
      args: [{ name: "<name>", about: "name of the secret and of its environment variable" }],
      options: [
        { flags: "--value-env <name>", about: "take the value from this environment variable" },
        { flags: "--value-file <file>", about: "take the value from this file" },
        { flags: "--description <text>", about: "what the secret is for" },
        { flags: "--type <type>", about: "kind of secret", choices: ["api_key", "token", "ssh_key", "custom"] },
        {
          flags: "--to <hosts>",
          about: "hosts, separated by commas; the secret goes only into requests to them, and no sandbox gets it",
        },
        {
          flags: "--as <header>",
          about: 'with --to: header, and text before the value (default: "Authorization: Bearer")',
        },
        { flags: "--methods <list>", about: "with --to: only for requests with these methods, separated by commas" },
        { flags: "--path <prefix>", about: "with --to: only for requests to paths that begin with this" },
        { flags: "--variable", about: "undo --to: give agents the secret as an environment variable again" },
        { flags: "--grant <agents>", about: "ids of agents to grant the secret to, separated by commas" },
      ],
      run: set,
    }),
    actOnOne("grant", "grant a secret to agents", {
      args: [AGENTS],
      run: (call) => grant(call, call.item, call.args),
    }),
    actOnOne("revoke", "take a secret away from agents; work that is running keeps it until it ends", {
      args: [AGENTS],
      async run({ client, item, path, args }) {
        for (const agent of args) await client.call("DELETE", `${path}/grant/${encodeURIComponent(agent)}`);
        return { json: { revoked: args }, text: `${item["name"]}: taken from ${args.join(", ")}` };
      },
    }),
    deleteVerb("delete a secret and its grants", (item: Item) => `secret ${item["name"]}`),
  ],
};

async function set(call: Call<Item, List>) {
  const { client, path, args, flags } = call;
  const name = args[0]!;
  const bound = edgeOf(flags);
  const agents = listOf(flags["grant"] ?? "");
  await assertAgents(client, agents);
  const value = await readSecret(`value of ${name}`, { env: flags["valueEnv"], file: flags["valueFile"] });
  const fields = bodyOf(flags, { description: "description", type: "secret_type" });
  const body = { ...fields, value, ...(bound === undefined ? {} : { edge: bound }) };
  const secret = await client.call("PUT", `${path}/${encodeURIComponent(name)}`, body).catch((error) => {
    if (!(error instanceof Problem) || error.status !== 404) throw error;
    return client.call("POST", path, { ...body, name });
  });
  if (agents.length > 0) return grant({ client, path: `${path}/${secret.secret_id}` as const }, secret, agents);
  return { json: secret, text: textOf(secret) };
}

/** Where the secret is inserted into requests. null: nowhere; undefined: unchanged. @throws Problem 422 `bad_usage`. */
function edgeOf({ to, as, methods, path, variable }: Flags): Edge | null | undefined {
  if (to === undefined) {
    if ([as, methods, path].some((flag) => flag !== undefined))
      throw badUsage("--as, --methods and --path go with --to HOSTS.");
    return variable ? null : undefined;
  }
  if (variable) throw badUsage("Give --to HOSTS or --variable, not both.");
  const text: string = as ?? "Authorization: Bearer";
  const at = text.includes(":") ? text.indexOf(":") : text.length;
  const before = text.slice(at + 1).trim();
  return {
    hosts: String(to).split(",").filter(Boolean),
    header: text.slice(0, at).trim(),
    prefix: before === "" ? "" : `${before} `,
    ...(methods === undefined ? {} : { methods: String(methods).toUpperCase().split(",").filter(isMethod) }),
    ...(path === undefined ? {} : { path }),
  };
}

type Edge = NonNullable<Schemas["SecretEdge"]>;
type EdgeMethod = NonNullable<Edge["methods"]>[number];
/** Accepts any text: the server reports unknown methods. */
const isMethod = (text: string): text is EdgeMethod => text !== "";

async function grant({ client, path }: Pick<One, "client" | "path">, secret: Item, agents: readonly string[]) {
  await assertAgents(client, agents);
  let now = secret;
  for (const agent of agents) now = await client.call("POST", `${path}/grant/${encodeURIComponent(agent)}`);
  return { json: now, text: textOf(now) };
}

const textOf = ({ name, masked_preview, granted_agents }: Item): string =>
  `${name}: ${masked_preview}, granted to ${granted_agents.join(", ") || "nobody (skep secrets grant SECRET AGENT)"}`;
