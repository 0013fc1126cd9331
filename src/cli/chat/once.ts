/** One turn for pipes: only the agent's words go to standard output. */

import { INTERRUPTED } from "../interrupt.ts";
import type { Client } from "../server/client.ts";
import { oneLine, paint } from "../terminal/style.ts";
import type { Attached } from "./attach.ts";
import { createScreen } from "./screen.ts";
import { type ChatView, pathOf, say, type TurnEnd } from "./session.ts";

interface Once {
  message: string;
  attached: readonly Attached[];
  json: boolean;
}

/** @returns the exit code. */
export async function sayOnce(client: Client, session: ChatView, { message, attached, json }: Once): Promise<number> {
  let interrupted = false;
  const stop = () => {
    if (interrupted) process.exit(INTERRUPTED);
    interrupted = true;
    client.call("POST", `${pathOf(session.id)}/stop`).catch(() => process.exit(INTERRUPTED));
  };
  process.on("SIGINT", stop);
  const screen = json ? undefined : createScreen(true);
  try {
    const end = await say(client, session, message, attached, (event) => {
      screen?.take(event);
      if (event.kind === "permission_requested")
        console.error(
          `skep: ${oneLine(String(event.data["message"]))} skep approvals allow ${event.data["request_id"]}, or deny`,
        );
    });
    screen?.end();
    if (json) console.log(JSON.stringify(await summarize(client, session.id, end)));
    else if (end.status === "failed")
      console.error(paint("red", `skep: ${oneLine(end.error?.message ?? "It failed.")}`));
    return interrupted ? INTERRUPTED : end.status === "succeeded" ? 0 : 1;
  } finally {
    process.off("SIGINT", stop);
  }
}

async function summarize(client: Client, id: string, { status, error }: TurnEnd): Promise<object> {
  const { messages, ...chat } = await client.call("GET", `${pathOf(id)}?limit=200`);
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const said = messages.slice(asked + 1).filter(({ role }) => role === "assistant");
  return {
    session_id: id,
    agent_id: chat.agent_id,
    model: chat.model,
    status,
    error: error ?? null,
    text: said
      .map(({ content }) => content)
      .filter(Boolean)
      .join("\n\n"),
    cost_usd: chat.cost_usd,
    calls_without_price: chat.calls_without_price,
    tokens: chat.tokens,
  };
}
