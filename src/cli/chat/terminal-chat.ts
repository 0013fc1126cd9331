/** A chat at a terminal: asks for a line, shows the reply, and repeats this until the person leaves. */
import { isProblem } from "../../core/errors.ts";
import type { SkepEvent } from "../../core/events.ts";
import { membersOf, textIn } from "../../core/is-object.ts";
import { INTERRUPTED } from "../interrupt.ts";
import type { Client } from "../server/client.ts";
import { oneLine, paint } from "../terminal/style.ts";
import { localizeTimes } from "../terminal/table.ts";
import type { Attached } from "./attach.ts";
import { COMMANDS, runCommand } from "./commands.ts";
import { createInputLine, type InputLine } from "./line.ts";
import { markdownLines } from "./markdown.ts";
import { withPermissions } from "./permissions.ts";
import { createScreen, type Screen } from "./screen.ts";
import { type ChatView, follow, type MessageView, meterOf, pathOf, say } from "./session.ts";

/** The state that the chat's commands change. */
export interface ChatState {
  client: Client;
  session: ChatView;
  /** Files for the next message. */
  attached: Attached[];
  /** Text that the next input line starts with, to be edited. */
  draft: string | undefined;
  leaving: boolean;
}

const TRY = "/try";
const MEANWHILE = `${TRY} asks again at once, Ctrl-C ends the reply.`;

/** @returns the exit code. */
export async function terminalChat(client: Client, session: ChatView, attached: Attached[]): Promise<number> {
  const state: ChatState = { client, session, attached, draft: undefined, leaving: false };
  const input = createInputLine(Object.keys(COMMANDS).map((name) => `/${name}`));
  let stopped = 0;
  input.onInterrupt(() => {
    if (++stopped > 1) {
      input.close();
      process.exit(INTERRUPTED);
    }
    client.call("POST", `${pathOf(state.session.id)}/stop`).catch(() => {});
  });
  const tellFailure = async (work: () => Promise<unknown>): Promise<void> => {
    stopped = 0;
    try {
      await work();
    } catch (error) {
      if (!isProblem(error)) throw error;
      console.log(paint("red", oneLine(error.detail)));
    }
  };
  // A reply that waits for its provider has not ended, so no line is asked for. This line is read nevertheless.
  input.onTyped((line) => {
    if (line.trim() !== TRY) return false;
    void tellFailure(() => runCommand(state, TRY));
    return true;
  });
  await tellFailure(() => begin(state, input));
  while (!state.leaving) {
    const { draft } = state;
    state.draft = undefined;
    const line = await input.next(promptOf(state), draft);
    if (line === undefined) break;
    const text = line.trim();
    if (text === "") continue;
    await tellFailure(async () => {
      if (!(await runCommand(state, text))) await reply(state, line, input);
      state.session = await client.call("GET", pathOf(state.session.id));
    });
  }
  input.close();
  await leave(state);
  return 0;
}

function promptOf({ session, attached }: ChatState): string {
  const files = attached.length === 0 ? "" : ` · ${attached.length} attached`;
  return `${paint("bold", session.agent_id)} ${paint("dim", `${meterOf(session)}${files}`)} › `;
}

async function reply(state: ChatState, message: string, input: InputLine): Promise<void> {
  const screen = createScreen();
  const { client, session, attached } = state;
  try {
    await say(client, session, message, attached, createEventHandler(state, input, screen));
    state.attached = [];
  } finally {
    screen.end();
  }
}

/**
 * Shows the events of a reply, asks about calls that need approval, and says what the person can do while the reply
 * waits for its provider.
 */
function createEventHandler(
  { client, session }: ChatState,
  input: InputLine,
  screen: Screen,
): (event: SkepEvent) => void {
  const take = withPermissions(client, input, screen);
  return (event) => {
    take(event);
    if (event.kind !== "activity" || !String(event.data["title"]).startsWith("Waits: ")) return;
    client.call("GET", pathOf(session.id)).then(
      ({ provider_wait }) => {
        if (provider_wait) console.log(paint("dim", MEANWHILE));
      },
      () => {},
    );
  };
}

/** Shows who answers. In a chat that continues, also shows the last messages and the reply that is being written. */
async function begin(state: ChatState, input: InputLine): Promise<void> {
  const { client, session } = state;
  const { agent_id, model, title } = session;
  const what = [title, model ?? "no model yet", "/help lists commands"].filter((one) => one !== null);
  console.log(`${paint("bold", agent_id)} ${paint("dim", what.map(oneLine).join(" · "))}`);
  if (session.message_count === 0) return;
  const { messages, status, reply, provider_wait } = await client.call("GET", `${pathOf(session.id)}?limit=20`);
  const last = messages.findLastIndex(({ role, withdrawn }) => role === "user" && !withdrawn);
  for (const { role, content, withdrawn } of messages.slice(Math.max(last, 0)))
    if (!withdrawn && content !== "" && role !== "system")
      console.log(
        role === "user" ? `${paint("dim", "›")} ${oneLine(content)}` : markdownLines(content.trimEnd()).join("\n"),
      );
  if (status !== "busy") return tellLastFailure(client, session.id, messages);
  const screen = createScreen();
  if (reply.text !== "") screen.say(reply.text);
  if (provider_wait)
    console.log(paint("dim", `(Waits: ${localizeTimes(oneLine(provider_wait.reason))})\n${MEANWHILE}`));
  await follow(client, session.id, reply.last_event_id, createEventHandler(state, input, screen)).finally(screen.end);
}

/** Shows why the chat's last reply failed, if it did and its message was not taken back. */
async function tellLastFailure(client: Client, id: string, messages: readonly MessageView[]): Promise<void> {
  const { items } = await client.call("GET", `/v1/events?session_id=${id}&kinds=turn_ended&limit=1`);
  const { status, error, message_id } = membersOf(items[0]?.data);
  if (status !== "failed" || messages.some((one) => one.withdrawn && one.id === message_id)) return;
  console.log(paint("red", oneLine(textIn(error, "message") ?? "The reply failed.")));
}

/** Deletes the chat if nobody said anything in it. */
async function leave({ client, session }: ChatState): Promise<void> {
  if (session.message_count === 0) await client.call("DELETE", `${pathOf(session.id)}?purge=true`).catch(() => {});
  else console.log(paint("dim", `Continue: skep chat ${session.agent_id} -c`));
}
