/** How the events of a chat look: the reply as Markdown, thinking dimmed, a tool call on one line. */

import type { SkepEvent } from "../../core/events.ts";
import { membersOf } from "../../core/is-object.ts";
import { inputText } from "../follow/state.ts";
import { countColumns, fit, isLive, oneLine, paint, stripControls } from "../terminal/style.ts";
import { localizeTimes } from "../terminal/table.ts";
import { createMarkdown, type MarkdownStream } from "./markdown.ts";

export type Screen = ReturnType<typeof createScreen>;

type Data = Record<string, unknown>;

/** @param bare show only the agent's words, for a pipe. */
export function createScreen(bare = false) {
  const out = process.stdout;
  const live = isLive();
  /** The kind of text being written, so that another kind starts on its own line. */
  let open: "text" | "thinking" | undefined;
  let markdown: MarkdownStream | undefined;
  /** Running calls, in the order in which they began. */
  const calls = new Map<string, string>();
  let hasStatus = false;
  let endsLine = false;
  /** A pipe cannot take back words, and a reply that breaks off is asked for again. So it gets words that are final. */
  const holds = bare && !live;
  let held = "";

  /** Shows a status line until something else is written. */
  const showStatus = (text: string): void => {
    if (!live || bare) return;
    clearStatus();
    out.write(paint("dim", fit(text, countColumns() - 1)));
    hasStatus = true;
  };
  const clearStatus = (): void => {
    if (hasStatus) out.write("\r\x1b[0J");
    hasStatus = false;
  };
  const close = (): void => {
    if (open === "text") markdown?.end();
    if (open === "thinking" || (open === "text" && !live && !endsLine)) out.write("\n");
    [open, markdown] = [undefined, undefined];
  };
  const showLine = (text: string): void => {
    if (bare) return;
    close();
    clearStatus();
    out.write(`${fit(text, countColumns())}\n`);
  };
  const showCalls = (): void => {
    const now = [...calls.values()].at(-1);
    if (now !== undefined) showStatus(`… ${now}`);
  };
  const write = (text: string): void => {
    clearStatus();
    if (open !== "text") close();
    open = "text";
    markdown ??= createMarkdown((piece) => void out.write(piece));
    markdown.push(text);
    endsLine = text.endsWith("\n");
  };
  /** Says text of the agent; also what was said before the first event. */
  const say = (text: string): void => {
    if (holds) held += text;
    else write(text);
  };
  const writeHeld = (): void => {
    if (held !== "") write(held);
    held = "";
  };
  const withdraw = (): void => {
    held = "";
    const note = paint("dim", "(the reply was interrupted and starts again)");
    if (!bare) return showLine(note);
    if (holds) return;
    close();
    console.error(note);
  };
  const think = (text: string): void => {
    if (bare) return;
    clearStatus();
    if (open !== "thinking") close();
    open = "thinking";
    out.write(paint("dim", stripControls(text)));
  };

  const callEnded = (data: Data): void => {
    const id = String(data["call_id"]);
    const name = calls.get(id) ?? String(data["tool"]);
    calls.delete(id);
    const mark = data["ok"] === true ? paint("green", "✔") : paint("red", "✘");
    const output = oneLine(String(data["output"] ?? ""));
    const seconds = (Number(data["duration_ms"]) / 1_000).toFixed(1);
    showLine(`${mark} ${name} ${paint("dim", `${seconds} s${output === "" ? "" : ` · ${output}`}`)}`);
    showCalls();
  };
  const turnEnded = (data: Data): void => {
    writeHeld();
    close();
    clearStatus();
    calls.clear();
    const { message } = membersOf(data["error"]);
    if (data["status"] === "cancelled") showLine(paint("dim", "(stopped)"));
    if (data["status"] === "failed" && !bare) console.log(paint("red", oneLine(String(message ?? "It failed."))));
  };

  return {
    say,
    take({ kind, data }: SkepEvent): void {
      if (kind === "turn_started") showStatus("…");
      if (kind === "agent_output" && data["call_id"] === undefined) say(String(data["text"]));
      if (kind === "agent_thinking") think(String(data["text"]));
      if (kind === "tool_call_start") {
        writeHeld();
        close();
        calls.set(String(data["call_id"]), oneLine(`${data["tool"]} ${inputText(data["input"])}`));
        showCalls();
      }
      if (kind === "tool_call_end") callEnded(data);
      if (kind === "activity") showLine(paint("dim", `(${localizeTimes(oneLine(String(data["title"])))})`));
      if (kind === "permission_requested" && !bare)
        showStatus(`waits for an answer: ${oneLine(String(data["message"] ?? ""))}`);
      if (kind === "output_withdrawn") withdraw();
      if (kind === "turn_ended") turnEnded(data);
    },
    /** Finishes, and leaves the cursor at the beginning of a line. */
    end(): void {
      writeHeld();
      close();
      clearStatus();
    },
  };
}
