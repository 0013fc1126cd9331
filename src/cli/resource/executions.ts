/** `skep executions`: what agents are doing now. */
import type { RowOf } from "../../api/types.ts";
import { oneLine, paint, stripControls } from "../terminal/style.ts";
import { timeText } from "../terminal/table.ts";
import { listItems } from "./find.ts";
import { type Resource, verbMakers } from "./resource.ts";
import { statusStyle } from "./words.ts";

type List = "/v1/lifecycle/sessions";
const { actOnList } = verbMakers<List>();

const MESSAGES = 2_000;

export const executions: Resource<List> = {
  name: "executions",
  one: "session",
  about: "list the sessions in which agents are working now, or show one",
  path: "/v1/lifecycle/sessions",
  idOf: ({ id }) => id,
  single: false,
  columns: [
    { head: "SESSION", of: ({ id }) => id },
    { head: "AGENT", of: ({ agent_id }) => agent_id },
    { head: "KIND", of: ({ kind }) => kind },
    { head: "STATUS", of: ({ status }) => status, style: ({ status }) => statusStyle(status) },
    { head: "BEGUN", of: ({ started_at }) => timeText(started_at) },
    { head: "LAST", of: ({ last_activity_at }) => timeText(last_activity_at) },
    { head: "RUN", of: ({ run_id }) => run_id, optional: true },
    { head: "TITLE", of: ({ title }) => title, shrinks: true, optional: true },
  ],
  empty: "No agent is at work.",
  verbs: [
    actOnList("transcript", "print the messages and tool calls of a session, even if it has ended", {
      args: [{ name: "<session>", about: "id of the session, as `skep runs RUN --json` prints it" }],
      // The list has the newest message first, but people read from the beginning.
      async run({ client, args: [id] }) {
        const list = await listItems(client, `/v1/sessions/${encodeURIComponent(id!)}/transcript`, MESSAGES);
        return { json: list, text: [...list.items].reverse().flatMap(messageLines) };
      },
    }),
  ],
};

function messageLines(message: RowOf<`/v1/sessions/${string}/transcript`>): string[] {
  const { role, text } = message;
  const said = stripControls(String(text ?? "")).trim();
  const done = message.calls.map(
    ({ tool, input, ok }) =>
      `  · ${tool} ${paint("dim", oneLine(JSON.stringify(input)))}${ok === false ? " (failed)" : ""}`,
  );
  return [paint("bold", role), ...(said ? [said.replace(/^/gm, "  ")] : []), ...done, ""];
}
