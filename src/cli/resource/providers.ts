/** `skep providers`: model providers with their keys and addresses. A key is never an argument. */
import type { RowOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { readSecret } from "../read-input.ts";
import type { Style } from "../terminal/style.ts";
import { fieldLines, formatCount, tableLines } from "../terminal/table.ts";
import { type Call, type OptionSpec, type Resource, verbMakers } from "./resource.ts";
import { assertMeant, bodyOf, YES } from "./words.ts";

type List = "/v1/settings/providers";
type Item = RowOf<List>;
const { actOnList } = verbMakers<List>();

const ID = { name: "<provider>", about: "id of the provider, e.g. anthropic, ollama, custom-lab" };
const MINE: OptionSpec = {
  flags: "--mine",
  about: "store the key as your own: used first for what you start, never for others",
};

const stateOf = ({ enabled, configured, key_refused }: Item): string =>
  !enabled ? "off" : !configured ? "not configured" : key_refused ? "key refused" : "ready";
const STYLES: Readonly<Record<string, Style>> = { ready: "green", "key refused": "red" };
const keyOf = ({ masked_key, key_source }: Item): string => (masked_key ? `${masked_key} (${key_source})` : "none");
const pathOf = (id: string) => `/v1/settings/providers/${encodeURIComponent(id)}` as const;
const ownPathOf = (id: string) => `/v1/settings/user-providers/${encodeURIComponent(id)}` as const;

export const providers: Resource<List> = {
  name: "providers",
  one: "provider",
  about: "list the model providers with their keys, or show one",
  path: "/v1/settings/providers",
  idOf: ({ id }) => id,
  columns: [
    { head: "PROVIDER", of: ({ id }) => id },
    {
      head: "STATE",
      of: stateOf,
      style: (provider) => STYLES[stateOf(provider)] ?? "dim",
    },
    { head: "MODELS", of: ({ models }) => models.length, right: true },
    { head: "KEY", of: keyOf },
    { head: "VARIABLE", of: ({ env_var }) => env_var },
    { head: "DEFAULT MODEL", of: ({ default: model }) => model },
  ],
  empty: "No providers.",
  show: async (provider) => [
    ...fieldLines([
      ["provider", provider["id"]],
      ["name", provider["name"]],
      ["state", stateOf(provider)],
      ["address", provider["base_url"]],
      ["key", keyOf(provider)],
      ["variable", provider["env_var"]],
      ["default", provider["default"]],
      ["documentation", provider["docs_url"]],
    ]),
    "",
    ...modelLines(provider["models"]),
  ],
  verbs: [
    actOnList("set", "configure a model provider; custom-NAME adds a server of your own", {
      args: [ID],
      options: [
        { flags: "--key", about: "ask for the API key, or read it from standard input" },
        { flags: "--key-env <name>", about: "take the API key from this environment variable" },
        MINE,
        { flags: "--base-url <url>", about: "address of the provider's server; a new address deletes the stored keys" },
        { flags: "--default <model>", about: "model to use when none is named" },
        { flags: "--enable", about: "switch the provider on" },
        { flags: "--disable", about: "switch the provider off" },
      ],
      run: set,
    }),
    actOnList(
      "test",
      "test the connection to a provider and list the models that it offers now; exit 1 when it fails",
      {
        args: [ID],
        run: ({ client, args: [id] }) => test(client, id!),
      },
    ),
    actOnList("remove", "delete the configuration of a provider", {
      args: [ID],
      options: [{ flags: "--mine", about: "delete your own key instead" }, YES],
      async run({ client, args: [id], flags }) {
        await assertMeant(flags["mine"] ? `Delete your own key of ${id}?` : `Delete ${id} with its key?`, flags);
        await client.call("DELETE", flags["mine"] ? ownPathOf(id!) : pathOf(id!));
        return { json: { id, removed: true }, text: `${id}: forgotten` };
      },
    }),
  ],
};

const modelLines = (models: Item["models"]): string[] =>
  tableLines(
    [
      { head: "MODEL", of: ({ id }) => id },
      { head: "WINDOW", of: ({ context_window }) => context_window, right: true },
      { head: "IN $/M", of: ({ input_usd_per_mtok }) => input_usd_per_mtok, right: true },
      { head: "OUT $/M", of: ({ output_usd_per_mtok }) => output_usd_per_mtok, right: true },
    ],
    models,
  );

async function set({ client, args: [given], flags }: Call) {
  const id = given!;
  if (flags["enable"] && flags["disable"]) throw badUsage("Give --enable or --disable, not both.");
  const env: string | undefined = flags["keyEnv"];
  const key = env !== undefined || flags["key"] ? await readSecret(`key of ${id}`, env ? { env } : {}) : undefined;
  if (flags["mine"]) {
    if (key === undefined) throw badUsage("--mine needs the key: --key or --key-env NAME.");
    const mine = await client.call("PUT", ownPathOf(id), { api_key: key });
    return { json: mine, text: `${id}: your own key ${mine["masked_key"]}` };
  }
  const provider = await client.call("PUT", pathOf(id), {
    ...(key === undefined ? {} : { api_key: key }),
    ...bodyOf(flags, { baseUrl: "base_url", default: "default" }),
    ...(flags["enable"] || flags["disable"] ? { enabled: flags["enable"] === true } : {}),
  });
  const chosen = provider["default"] ? `, default model ${provider["default"]}` : "";
  const head = `${id}: ${stateOf(provider)}, key ${provider["masked_key"] ?? "none"}${chosen}`;
  if (key === undefined) return { json: provider, text: head };
  // Test the key now, so that a wrong one does not first show in a run.
  const tried = await client.call("POST", `${pathOf(id)}/test`, {});
  if (tried["ok"]) return { json: { ...provider, test: tried }, text: `${head}, taken` };
  const { key_refused } = await client.call("GET", pathOf(id));
  const text = `${id}: the key is stored, but ${key_refused ? "refused" : "could not be tried"}: ${tried["error"]}`;
  return { json: { ...provider, key_refused, test: tried }, text, code: key_refused ? 1 : 0 };
}

async function test(client: Call["client"], id: string) {
  const found = await client.call("POST", `${pathOf(id)}/test`, {});
  if (!found["ok"]) return { json: found, text: `${id}: ${found["error"]}`, code: 1 };
  const head = `${id}: answers in ${found["duration_ms"]} ms, ${formatCount(found["models"].length, "model")}`;
  return { json: found, text: [head, ...modelLines(found["models"])] };
}
