/** `skep chats`: your chats. `skep chat` starts or continues one. */
import type { RowOf } from "../../api/types.ts";
import { timeText } from "../terminal/table.ts";
import { DELETE_OPTIONS, deleteHistory } from "./history.ts";
import { type Resource, verbMakers } from "./resource.ts";
import { COST, keepVerb, statusStyle } from "./words.ts";

type List = "/v1/chat/sessions";
type Item = RowOf<List>;
const { actOnOne } = verbMakers<List>();

export const chats: Resource<List> = {
  name: "chats",
  one: "chat",
  about: "list your chats, or show one",
  path: "/v1/chat/sessions",
  idOf: ({ id }) => id,
  columns: [
    { head: "CHAT", of: ({ id }) => id },
    { head: "AGENT", of: ({ agent_id }) => agent_id },
    { head: "STATUS", of: ({ status }) => status, style: ({ status }) => statusStyle(status) },
    { head: "MESSAGES", of: ({ message_count }) => message_count, right: true },
    { head: "LAST", of: ({ last_activity_at }) => timeText(last_activity_at) },
    COST,
    { head: "TITLE", of: ({ title }) => title, shrinks: true },
  ],
  filters: [
    {
      flags: "--status <status>",
      about: "only chats with this status (default: active)",
      query: "status",
      choices: ["active", "ended", "all"],
    },
    { flags: "--agent <agent>", about: "only chats with this agent", query: "agent_id" },
  ],
  empty: "No open chats. Begin one: skep chat. Ended ones: skep chats --status ended",
  verbs: [
    actOnOne("end", "end a chat; its messages stay", async ({ client, item, path }) => {
      await client.ask("DELETE", path);
      return { json: { ended: true, id: item.id }, text: `ended ${item.id}` };
    }),
    actOnOne("delete", "delete a chat with its files and its messages", {
      options: DELETE_OPTIONS,
      run: ({ client, item, flags }) =>
        deleteHistory(client, { kind: "sessions", id: item.id, what: `chat ${item.title ?? item.id}`, flags }),
    }),
    keepVerb<Item, List>("chat"),
  ],
};
