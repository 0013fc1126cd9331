/** Asks the person in a terminal chat about the tool calls that need approval. */
import { isProblem } from "../../core/errors.ts";
import type { SkepEvent } from "../../core/events.ts";
import type { Client } from "../server/client.ts";
import { oneLine, paint, stripControls } from "../terminal/style.ts";
import type { InputLine } from "./line.ts";
import type { Screen } from "./screen.ts";

/** Shows the events, and asks about each call that waits for approval. Only a clear yes or no counts as an answer. */
export function withPermissions(client: Client, input: InputLine, screen: Screen): (event: SkepEvent) => void {
  let asking = Promise.resolve();
  return (event) => {
    screen.take(event);
    if (event.kind === "permission_resolved") console.log(paint("dim", `  ${event.data["state"]}`));
    if (event.kind === "permission_requested")
      asking = asking.then(() => ask(client, input, screen, String(event.data["request_id"])));
  };
}

async function ask(client: Client, input: InputLine, screen: Screen, id: string): Promise<void> {
  const path = `/v1/permissions/requests/${id}` as const;
  try {
    const { state, agent_id, tool, subject, can_remember } = await client.call("GET", path);
    if (state !== "waiting") return;
    screen.end();
    const indented = stripControls(subject).replace(/^/gm, "  ");
    console.log(`${paint("yellow", "?")} May ${paint("bold", agent_id)} use ${tool}?\n${indented}`);
    const choices = can_remember ? "y: once, c: in this chat, n: no, then a comment" : "y: once, n: no, then a comment";
    for (;;) {
      const said = await input.next(`Allow? [${choices}] `);
      if (said === undefined) return;
      const [, word = "", comment = ""] = /^\s*(y|yes|c|chat|n|no)(?:\s+(.*))?$/is.exec(said.slice(0, 10_000)) ?? [];
      const allow = /^[yc]/i.test(word);
      if (word === "" || (!can_remember && /^c/i.test(word))) continue;
      const lasts = allow ? { lasts: /^c/i.test(word) ? ("work" as const) : ("once" as const) } : {};
      await client.call("POST", `${path}/answer`, {
        allow,
        ...lasts,
        ...(comment.trim() ? { comment: comment.trim() } : {}),
      });
      return;
    }
  } catch (error) {
    // Somebody else answered first, or the chat has ended; the following events show which.
    if (!isProblem(error)) throw error;
    console.log(paint("dim", oneLine(error.detail)));
  }
}
