/** `skep projects caches`: the parts of home folders that sandboxes keep for a project's later work. */
import { timeText } from "../terminal/table.ts";
import { verbMakers } from "./resource.ts";

const { actOnOne } = verbMakers<"/v1/projects">();

export const cachesVerb = actOnOne(
  "caches",
  "show or remove the caches that a project's sandboxes keep for you; for everybody if you are an administrator",
  {
    options: [{ flags: "--clear", about: "remove the caches that no sandbox uses now" }],
    async run({ client, item, path, flags }) {
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
    },
  },
);
