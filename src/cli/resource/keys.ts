/** `skep keys`: API keys of the account. */
import type { AnswerOf } from "../../api/types.ts";
import { DAY_MS } from "../../core/clock.ts";
import { badUsage } from "../../core/errors.ts";
import { timeText } from "../terminal/table.ts";
import { type Resource, verbMakers } from "./resource.ts";
import { assertMeant, listOf, YES } from "./words.ts";

type List = "/v1/auth/api-keys";
const { actOnList, actOnOne } = verbMakers<List>();

export const keys: Resource<List> = {
  name: "keys",
  one: "key",
  about: "list the API keys of your account, or show one",
  path: "/v1/auth/api-keys",
  idOf: ({ id }) => id,
  namesOf: ({ name }) => [name],
  single: false,
  columns: [
    { head: "NAME", of: ({ name }) => name, shrinks: true },
    { head: "KEY", of: ({ preview }) => preview },
    { head: "MAY", of: ({ scopes }) => scopes?.join(", ") ?? "everything you may" },
    {
      head: "UNTIL",
      of: ({ expires_at, expired }) => (expired ? "expired" : expires_at ? timeText(expires_at) : "forever"),
      style: ({ expired }) => (expired ? "red" : undefined),
    },
    { head: "LAST USED", of: ({ last_used_at }) => timeText(last_used_at) || "never" },
    { head: "ID", of: ({ id }) => id },
  ],
  empty: "No keys. Make one: skep keys create NAME",
  verbs: [
    actOnList("create", "create an API key; it is printed once, alone on standard output", {
      args: [{ name: "<name>", about: "name of the key, which says what it is for" }],
      options: [
        { flags: "--days <n>", about: "days that the key is valid, up to 3650; 0: forever", default: "90" },
        {
          flags: "--scope <words>",
          about: "limit the key to these scopes, separated by commas: read, runs, write, publish, admin",
        },
      ],
      async run({ client, path, args: [name = ""], flags }) {
        // Number("") is 0, which would make a key that never expires.
        const days = String(flags["days"]).trim() === "" ? Number.NaN : Number(flags["days"]);
        if (!(days >= 0 && days <= 3_650)) throw badUsage("--days takes a number from 0 to 3650; 0 is forever.");
        const made = await client.ask<AnswerOf<"POST", List>>("POST", path, {
          name,
          expires_at: days === 0 ? null : new Date(Date.now() + days * DAY_MS).toISOString(),
          ...(flags["scope"] === undefined ? {} : { scopes: listOf(flags["scope"]) }),
        });
        return { json: made, text: made.key ?? "" };
      },
    }),
    actOnOne("revoke", "revoke an API key", {
      options: [YES],
      async run({ client, item, path, flags }) {
        await assertMeant(`Revoke the key ${item["name"]}?`, flags);
        await client.call("DELETE", path);
        return { json: { id: item["id"], revoked: true }, text: `${item["name"]}: revoked` };
      },
    }),
  ],
};
