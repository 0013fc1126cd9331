/** `skep projects caches`: what sandboxes of a project's work keep of their homes. */
import type { RowOf } from "../../api/types.ts";
import { timeText } from "../terminal/table.ts";
import type { Answer, Call, OneVerb } from "./resource.ts";

type List = "/v1/projects";
type Item = RowOf<List>;

export const cachesVerb: OneVerb<Item, List> = {
  name: "caches",
  about: "show or remove what its sandboxes keep of their homes for you; as an administrator for everybody",
  on: "one",
  options: [{ flags: "--clear", about: "remove it, where no sandbox has it now" }],
  run: (call) => caches(call),
};

async function caches({ client, item, path, flags }: Call<Item, `${List}/${string}`>): Promise<Answer> {
  const clears: true | undefined = flags["clear"];
  const address = `${path}/caches` as const;
  const name = item["name"];
  if (clears) {
    const cleared = await client.call("DELETE", address);
    const inUse =
      cleared["in_use"] === 0 ? "" : `; ${cleared["in_use"]} in use by a sandbox: clear again once it has ended`;
    return { json: cleared, text: `${name}: ${cleared["removed"]} removed${inUse}` };
  }
  const now = await client.call("GET", address);
  const paths = now["paths"].join(", ") || "nothing: its environment names no `caches`";
  const lines = [`${name} keeps ${paths}`, ...(now["unavailable"] === null ? [] : [now["unavailable"]])];
  const items = now["items"].map(({ of, user_id, user_name, bytes, made_at }) => {
    const made = made_at === null ? "" : `, made ${timeText(made_at)}`;
    return `  ${of === "set-up" ? "of set-ups" : (user_name ?? user_id ?? "yours")}: ${(bytes / 1e6).toFixed(1)} MB${made}`;
  });
  return { json: now, text: [...lines, ...items] };
}
