/** `skep messengers`: messenger bots through which people are notified and can answer. */
import type { BodyOf, RowOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { isOneOf } from "../../core/typed-keys.ts";
import { readText } from "../read-input.ts";
import { fieldLines } from "../terminal/table.ts";
import { type Call, type OptionSpec, type Resource, verbMakers } from "./resource.ts";
import { bodyOf, deleteVerb, editVerb, switchVerbs } from "./words.ts";

type List = "/v1/messengers";
type Item = RowOf<List>;
type One = Call<Item, `${List}/${string}`>;
const { actOnList } = verbMakers<List>();

const KINDS = ["telegram", "slack", "discord", "matrix"] as const;
const ACCESS: readonly OptionSpec[] = [
  { flags: "--token-file <file>", about: "file with the bot's token; - for standard input" },
  { flags: "--app-token-file <file>", about: "file with Slack's token for the app (xapp-…)" },
  { flags: "--server <address>", about: "address of the Matrix server, or of a messenger API that you run yourself" },
];

async function fieldsOf({ flags }: Call): Promise<BodyOf<"PUT", One["path"]>> {
  const { tokenFile, appTokenFile } = flags;
  return {
    ...bodyOf(flags, { server: "server", name: "name" }),
    ...(tokenFile === undefined ? {} : { token: (await readText(tokenFile)).trim() }),
    ...(appTokenFile === undefined ? {} : { app_token: (await readText(appTokenFile)).trim() }),
  };
}

const linesOf = (item: Item): string[] =>
  fieldLines([
    ["messenger", item["name"]],
    ["id", item["id"]],
    ["kind", item["kind"]],
    ["at", item["target"]],
    ["bot", item["account"]],
    ["state", item["state"]],
    ["last error", item["last_error"]],
  ]);

export const messengers: Resource<List> = {
  name: "messengers",
  one: "messenger",
  about: "list the messengers, bots through which people answer from their phones; or show one",
  path: "/v1/messengers",
  idOf: ({ id }) => id,
  namesOf: ({ name }) => [name],
  columns: [
    { head: "NAME", of: ({ name }) => name, shrinks: true },
    { head: "KIND", of: ({ kind }) => kind },
    { head: "BOT", of: ({ account }) => account, shrinks: true },
    { head: "STATE", of: ({ state }) => state, style: ({ state }) => (state === "failed" ? "red" : undefined) },
    { head: "ERROR", of: ({ last_error }) => last_error, style: () => "red", shrinks: true, optional: true },
    { head: "ID", of: ({ id }) => id },
  ],
  empty: "No messengers. Connect one: skep messengers add telegram NAME --token-file FILE",
  show: async (item) => linesOf(item),
  verbs: [
    actOnList("add", "connect a bot of Telegram, Slack, Discord or Matrix", {
      args: [
        { name: "<kind>", about: "service of the bot", choices: KINDS },
        { name: "<name>", about: "name of the messenger" },
      ],
      options: ACCESS,
      async run(call) {
        const [kind = "", name = ""] = call.args;
        if (!isOneOf(KINDS, kind)) throw badUsage(`Give one of ${KINDS.join(", ")}; not ${kind}.`);
        const { token, ...rest } = await fieldsOf(call);
        if (token === undefined) throw badUsage("Give the bot's token with --token-file.");
        const made = await call.client.call("POST", call.path, { ...rest, kind, name, token });
        return { json: made, text: linesOf(made) };
      },
    }),
    editVerb("edit", "change a messenger; options that you leave out keep their values", {
      options: [{ flags: "--name <text>", about: "name of the messenger" }, ...ACCESS],
      fieldsOf,
      linesOf,
    }),
    ...switchVerbs("connect a messenger again", "disconnect a messenger", linesOf),
    deleteVerb(
      "delete a messenger and the notification channels that use it",
      (item: Item) => `messenger ${item["name"]}`,
    ),
  ],
};
