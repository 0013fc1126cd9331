/** An onboarding in the terminal: prints replies as they are streamed; each line that the person types is an answer. */
import { createInterface, type Interface } from "node:readline";
import type { AnswerOf } from "../../api/types.ts";
import type { SkepEvent } from "../../core/events.ts";
import { textIn } from "../../core/is-object.ts";
import { listenForInterrupt } from "../interrupt.ts";
import type { Client } from "../server/client.ts";
import { paint, stripControls } from "../terminal/style.ts";

const PROMPT = "> ";

type Path = `/v1/onboarding/sessions/${string}`;
type Session = AnswerOf<"GET", Path>;

interface Terminal {
  /** The next line that is not blank; undefined when the person leaves (Ctrl-D, Ctrl-C, the end of the input). */
  ask(): Promise<string | undefined>;
  /** While this is set, Ctrl-C calls it instead of leaving. */
  onInterrupt: (() => void) | undefined;
  close(): void;
}

/** @returns the session as it is when the onboarding has ended or the person has left. */
export async function terminalOnboarding(
  client: Client,
  started: { id: string },
  { json }: { json: boolean },
): Promise<Session> {
  const path = `/v1/onboarding/sessions/${started.id}` as const;
  const terminal = openTerminal();
  try {
    let session = await client.call("GET", path);
    if (!json) showLast(session);
    for (;;) {
      session = await listen(client, path, session, { json, terminal });
      if (session["status"] !== "active") return session;
      const line = await terminal.ask();
      if (line === undefined) return session;
      await client.call("POST", `${path}/message`, { message: line });
      session = { ...session, busy: true };
    }
  } finally {
    terminal.close();
  }
}

/** Shows the last message to a person who continues an onboarding. */
function showLast({ reply, phase, busy, messages }: Session): void {
  if (messages.length === 0 || (busy && messages.length < 2)) return;
  const last = messages.findLast(({ role, content }) => role === "assistant" && content.trim() !== "");
  console.log(paint("dim", `phase: ${phase}`));
  if (last && !reply.text) console.log(stripControls(last["content"]));
  if (reply.text) process.stdout.write(stripControls(reply.text));
}

interface Listening {
  json: boolean;
  terminal: Terminal;
}

/** Shows the interviewers' replies until it is the person's turn. @returns the session as it is then. */
async function listen(client: Client, path: Path, before: Session, { json, terminal }: Listening): Promise<Session> {
  if (!before["busy"]) return before;
  const left = new AbortController();
  let stopping = false;
  // The first Ctrl-C ends the reply, and the onboarding continues. The second leaves at once.
  terminal.onInterrupt = () => {
    const leave = () => {
      terminal.close();
      left.abort();
    };
    if (stopping) return leave();
    stopping = true;
    client.call("POST", `${path}/stop`).catch(leave);
  };
  const after = before["reply"].last_event_id;
  const events = client.events(`/v1/events/stream?session_id=${before["session_id"]}&after=${after}`, left.signal);
  let next: string | undefined;
  try {
    for await (const event of events) {
      if (json) console.log(JSON.stringify(event));
      else show(event);
      const { kind, data } = event;
      if (kind === "onboarding_changed" && data["change"] === "phase") next = String(data["phase"]);
      if (kind === "turn_started" && next !== undefined) {
        if (!json) console.log(paint("bold", `\n— ${stripControls(next)} —`));
        next = undefined;
      }
      if (kind !== "turn_ended" && kind !== "session_ended") continue;
      // The next interviewer may write before it is the person's turn.
      const session = await client.call("GET", path);
      if (!session["busy"]) return session;
    }
    return await client.call("GET", path);
  } finally {
    terminal.onInterrupt = undefined;
    await events.return(undefined);
  }
}

function show({ kind, data }: SkepEvent): void {
  if (kind === "agent_output" && data["call_id"] === undefined)
    process.stdout.write(stripControls(String(data["text"])));
  else if (kind === "output_withdrawn")
    process.stdout.write(paint("dim", "\n(the reply was interrupted and starts again)\n"));
  else if (kind === "tool_call_start") process.stdout.write("\n");
  else if (kind === "turn_ended") {
    const why = textIn(data["error"], "message") ?? "It failed.";
    console.log(data["status"] === "failed" ? paint("red", `\n${stripControls(why)}`) : "");
  }
}

function openTerminal(): Terminal {
  const hasPerson = process.stdin.isTTY === true;
  const reader: Interface = createInterface({
    input: process.stdin,
    output: process.stderr,
    terminal: hasPerson,
    prompt: PROMPT,
  });
  const lines: string[] = [];
  let over = false;
  let waiting: (() => void) | undefined;
  const wake = () => {
    waiting?.();
    waiting = undefined;
  };
  reader.on("line", (line) => {
    if (line.trim() !== "") lines.push(line.trim());
    else if (hasPerson && waiting) reader.prompt();
    wake();
  });
  reader.on("close", () => {
    over = true;
    wake();
  });
  const handleInterrupt = () => {
    if (terminal.onInterrupt) return terminal.onInterrupt();
    process.stderr.write("\n");
    reader.close();
  };
  reader.on("SIGINT", handleInterrupt);
  const forget = listenForInterrupt(handleInterrupt);
  const terminal: Terminal = {
    onInterrupt: undefined,
    async ask() {
      if (hasPerson && !over && lines.length === 0) reader.prompt();
      while (lines.length === 0 && !over) await new Promise<void>((done) => (waiting = done));
      return lines.shift();
    },
    close() {
      lines.length = 0;
      forget();
      reader.close();
    },
  };
  return terminal;
}
