/** `skep notifications`: the channels on which you are notified about runs. */
import type { BodyOf, RowOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { isOneOf } from "../../core/typed-keys.ts";
import { readText } from "../read-input.ts";
import { fieldLines, tableLines, timeText } from "../terminal/table.ts";
import { findOne, listItems } from "./find.ts";
import { messengers } from "./messengers.ts";
import { projects } from "./projects.ts";
import { type Call, type OptionSpec, type Resource, verbMakers } from "./resource.ts";
import { bodyOf, deleteVerb, editVerb, listOf, switchVerbs } from "./words.ts";

type List = "/v1/notification-channels";
type Item = RowOf<List>;
type One = Call<Item, `${List}/${string}`>;
const { actOnList, actOnOne } = verbMakers<List>();

const SHOWN = 50;
const KINDS = ["messenger", "ntfy", "gotify", "apprise", "webhook", "mail"] as const;
const OCCASIONS = ["waiting", "failed", "ended"] as const;

const CHOICES: readonly OptionSpec[] = [
  {
    flags: "--address <address>",
    about: "address of the webhook, the ntfy topic or the Gotify server, or of Apprise with its key",
  },
  { flags: "--to <address>", about: "e-mail address to send to (default: that of your account)" },
  { flags: "--token-file <file>", about: "file with the access token for ntfy or Gotify; - for standard input" },
  { flags: "--answers <yes>", about: "whether ntfy messages have buttons to answer with", choices: ["yes", "no"] },
  { flags: "--secret-file <file>", about: "file with the key to sign webhooks with (default: a generated key)" },
  { flags: "--on <when>", about: "what to notify of: waiting, failed, ended, separated by commas (default: all)" },
  { flags: "--project <project>", about: "notify only of runs of this project; empty: of all runs" },
];

function occasionOf(word: string): (typeof OCCASIONS)[number] {
  if (isOneOf(OCCASIONS, word)) return word;
  throw badUsage(`--on takes ${OCCASIONS.join(", ")}; not ${word}.`);
}

async function fieldsOf({ client, flags }: Call): Promise<BodyOf<"PUT", One["path"]>> {
  const { on, project, tokenFile, secretFile, answers } = flags;
  return {
    ...bodyOf(flags, { address: "url", to: "to" }),
    // Secrets come from files: other users can read a process's arguments.
    ...(tokenFile === undefined ? {} : { token: (await readText(tokenFile)).trim() }),
    ...(secretFile === undefined ? {} : { secret: (await readText(secretFile)).trim() }),
    ...(answers === undefined ? {} : { answers: answers === "yes" }),
    ...(on === undefined ? {} : { on: listOf(on).map(occasionOf) }),
    ...(project === undefined
      ? {}
      : { project_id: project === "" ? null : (await findOne(client, projects, project))["id"] }),
  };
}

interface Made {
  secret?: string | null;
  link?: { code: string; expires_at: string } | undefined;
}

const codeLines = ({ code, expires_at }: { code: string; expires_at: string }): string[] => [
  `Send this to the bot, in the chat that you want to be asked in, before ${timeText(expires_at)}:`,
  "",
  `    /link ${code}`,
];

const linesOf = (channel: Item & Made): string[] => [
  ...fieldLines([
    ["channel", channel["name"]],
    ["id", channel["id"]],
    ["kind", channel["kind"]],
    ["goes to", channel["target"]],
    ["linked to", channel["messenger_id"] === null ? null : (channel["linked_to"] ?? "nobody yet")],
    ["answers", channel["answers"] ? "yes" : "no"],
    ["on", channel["on"]],
    ["whose runs", channel["whose"]],
    ["project", channel["project_id"]],
    ["state", channel["enabled"] ? "on" : "off"],
    ["last sent", channel["last_sent_at"] ?? "never"],
    ["last error", channel["last_error"]],
    ["secret", channel["secret"]],
  ]),
  ...(channel["link"] ? ["", ...codeLines(channel["link"])] : []),
  ...(channel["secret"] ? ["", "The secret signs the webhooks. It is not shown again."] : []),
];

export const notifications: Resource<List> = {
  name: "notifications",
  one: "channel",
  about: "list the channels that notify you when a run waits, fails or ends, or show one",
  path: "/v1/notification-channels",
  idOf: ({ id }) => id,
  namesOf: ({ name }) => [name],
  columns: [
    { head: "NAME", of: ({ name }) => name, shrinks: true },
    { head: "KIND", of: ({ kind }) => kind },
    { head: "GOES TO", of: ({ target }) => target, shrinks: true },
    { head: "ON", of: ({ on }) => on.join(",") },
    { head: "STATE", of: ({ enabled }) => (enabled ? "on" : "off") },
    { head: "LAST", of: ({ last_sent_at }) => timeText(last_sent_at) || "never" },
    { head: "ERROR", of: ({ last_error }) => last_error, style: () => "red", shrinks: true, optional: true },
    { head: "ID", of: ({ id }) => id },
  ],
  empty: "No notifications. Set one: skep notifications add ntfy NAME --address https://ntfy.sh/TOPIC",
  show: async (channel) => linesOf(channel),
  verbs: [
    actOnList("add", "add a channel that notifies you: a messenger, ntfy, Gotify, Apprise, a webhook or mail", {
      args: [
        { name: "<kind>", about: "kind of channel", choices: KINDS },
        { name: "<name>", about: "name of the channel" },
      ],
      options: [
        ...CHOICES,
        { flags: "--messenger <messenger>", about: "messenger to use, for the kind messenger" },
        { flags: "--everyone", about: "notify of everybody's runs (administrators only)" },
      ],
      async run(call) {
        const [kind = "", name = ""] = call.args;
        if (!isOneOf(KINDS, kind)) throw badUsage(`Give one of ${KINDS.join(", ")}; not ${kind}.`);
        const whose = call.flags["everyone"] ? { whose: "everyone" as const } : {};
        const { project_id, token, ...fields } = await fieldsOf(call);
        const { messenger } = call.flags;
        const through =
          messenger === undefined ? {} : { messenger_id: (await findOne(call.client, messengers, messenger))["id"] };
        const optional = { ...through, ...(project_id ? { project_id } : {}), ...(token ? { token } : {}) };
        const made = await call.client.call("POST", call.path, { kind, name, ...whose, ...optional, ...fields });
        return { json: made, text: linesOf(made) };
      },
    }),
    editVerb("edit", "change a channel; options that you leave out keep their values", {
      options: [{ flags: "--name <text>", about: "name of the channel" }, ...CHOICES],
      fieldsOf: async (call) => ({ ...bodyOf(call.flags, { name: "name" }), ...(await fieldsOf(call)) }),
      linesOf,
    }),
    ...switchVerbs("send to a channel again", "stop sending to a channel", linesOf),
    actOnOne(
      "test",
      "send a test message to a channel now; exit 1 when it could not be sent",
      async ({ client, path }) => {
        const sent = await client.call("POST", `${path}/test`);
        if (sent["state"] === "sent") return { json: sent, text: "Sent." };
        return { json: sent, text: `Not sent: ${sent["error"]}`, code: 1 };
      },
    ),
    actOnOne("code", "create a code that links a chat to a channel of the kind messenger", async ({ client, path }) => {
      const link = await client.call("POST", `${path}/code`);
      return { json: link, text: codeLines(link) };
    }),
    actOnOne("deliveries", "list the messages sent to a channel, each with its result", async ({ client, path }) => {
      const list = await listItems(client, `${path}/deliveries`, SHOWN);
      return { json: list, text: list.items.length === 0 ? "Nothing yet." : deliveryLines(list.items) };
    }),
    deleteVerb("delete a channel", (item: Item) => `channel ${item["name"]}`),
  ],
};

const deliveryLines = (items: readonly RowOf<`${One["path"]}/deliveries`>[]): string[] =>
  tableLines(
    [
      { head: "AT", of: ({ created_at }) => timeText(created_at) },
      { head: "EVENT", of: ({ event }) => event },
      { head: "STATE", of: ({ state }) => state, style: ({ state }) => (state === "failed" ? "red" : undefined) },
      { head: "TRIES", of: ({ attempts }) => attempts, right: true },
      { head: "WHAT", of: ({ message, error }) => error ?? message.title, shrinks: true },
      { head: "RUN", of: ({ run_id }) => run_id, optional: true },
    ],
    items,
  );
