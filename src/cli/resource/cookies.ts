/** `skep cookies`: cookies of your browser that agents may use for you. */
import { basename } from "node:path";
import { readText } from "../read-input.ts";
import { fieldLines, timeText } from "../terminal/table.ts";
import type { Call, Item, Resource } from "./resource.ts";
import { deleteVerb } from "./words.ts";

const linesOf = (set: Item): string[] =>
  fieldLines([
    ["name", set["name"]],
    ["id", set["id"]],
    ["domains", set["domains"]],
    ["cookies", set["cookie_count"]],
    ["expires", set["expired"] ? "expired: export them again" : (set["expires_at"] ?? "with the session")],
    ["agents", set["granted_agents"]],
  ]);

export const cookies: Resource = {
  name: "cookies",
  one: "set",
  about: "cookies of your browser that agents may use when they work for you",
  path: "/v1/browser/cookies",
  idOf: ({ id }) => id,
  namesOf: ({ name }) => [name],
  columns: [
    { head: "NAME", of: ({ name }) => name, shrinks: true },
    { head: "COOKIES", of: ({ cookie_count }) => cookie_count, right: true },
    {
      head: "EXPIRES",
      of: ({ expired, expires_at }) => (expired ? "expired" : timeText(expires_at)),
      style: ({ expired }) => (expired ? "yellow" : undefined),
    },
    { head: "DOMAINS", of: ({ domains }) => domains.join(","), shrinks: true },
    { head: "AGENTS", of: ({ granted_agents }) => granted_agents.join(",") },
    { head: "ID", of: ({ id }) => id },
  ],
  empty: "No cookies. Add a Netscape cookie file: skep cookies add FILE",
  show: async (set) => linesOf(set),
  verbs: [
    {
      name: "add",
      about: "add the cookies of a Netscape cookie file, as browsers' extensions export it",
      on: "none",
      args: [{ name: "<file>", about: "the file; - for standard input" }],
      options: [{ flags: "--name <text>", about: "what to call them (default: the file's name)" }],
      async run({ client, path, args: [file], flags }) {
        const name = flags["name"] ?? basename(file!).replace(/\.[^.]+$/, "");
        const form = new FormData();
        form.append("name", name);
        form.append("file", new File([await readText(file!)], "cookies.txt"));
        const made = await client.upload<Item>(path, form);
        return { json: made, text: linesOf(made) };
      },
    },
    grantVerb("grant", "let an agent use them for what it does for you", "POST"),
    grantVerb("revoke", "take them from an agent", "DELETE"),
    deleteVerb("delete a set and its grants", ({ item }) => `the cookies ${item["name"]}`),
  ],
};

function grantVerb(name: string, about: string, method: "POST" | "DELETE") {
  return {
    ...{ name, about, on: "one" as const, args: [{ name: "<agent>", about: "which agent" }] },
    async run({ client, item, path, args: [agent] }: Call) {
      const place = `/v1/browser/cookies/agents/${encodeURIComponent(agent!)}/${item["id"]}`;
      await client.call(method, method === "POST" ? `${place}/grant` : place);
      const set = await client.call<Item>("GET", path);
      return { json: set, text: linesOf(set) };
    },
  };
}
