/** The input line of a chat, with a history. It is hidden while the agent writes; lines typed meanwhile are queued. */

import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { ownJson } from "../../core/own-json.ts";
import { credentialsPath } from "../server/credentials.ts";

export type InputLine = ReturnType<typeof createInputLine>;

const KEPT_LINES = 1_000;
const historyPath = (): string => join(dirname(credentialsPath()), "chat-history.jsonl");

/** @param words the completions that Tab offers at the beginning of a line. */
export function createInputLine(words: readonly string[]) {
  let shown = false;
  const out = process.stdout;
  const gate = new Writable({
    write(chunk, _encoding, done) {
      if (shown) out.write(chunk);
      done();
    },
  });
  // Node's readline wraps the line at the width of its output stream, so the gate reports the terminal's width.
  Object.defineProperties(gate, { columns: { get: () => out.columns }, isTTY: { value: true } });
  const history = readHistory();
  const terminal = createInterface({
    input: process.stdin,
    output: gate,
    terminal: true,
    history: [...history].reverse(),
    historySize: KEPT_LINES,
    removeHistoryDuplicates: true,
    completer: (line: string) => [line.startsWith("/") ? words.filter((word) => word.startsWith(line)) : [], line],
  });
  const ahead: string[] = [];
  let unfinished = "";
  let closed = false;
  let armed = false;
  let waiting: ((line: string | undefined) => void) | undefined;
  let interrupt = (): void => {};
  let takeTyped = (_line: string): boolean => false;

  const give = (line: string | undefined): void => {
    const take = waiting;
    if (!take) {
      if (line !== undefined && !takeTyped(line)) ahead.push(line);
      return;
    }
    waiting = undefined;
    shown = false;
    take(line);
  };
  terminal.on("line", (line) => {
    armed = false;
    if (line.endsWith("\\")) {
      unfinished += `${line.slice(0, -1)}\n`;
      return terminal.prompt();
    }
    const whole = unfinished + line;
    unfinished = "";
    if (whole.trim() !== "") keep(whole);
    give(whole);
  });
  terminal.on("close", () => {
    closed = true;
    if (waiting) out.write("\n");
    give(undefined);
  });
  terminal.on("SIGINT", () => {
    if (!waiting) return interrupt();
    if (terminal.line !== "" || unfinished !== "") {
      unfinished = "";
      terminal.write(null, { ctrl: true, name: "e" });
      terminal.write(null, { ctrl: true, name: "u" });
    } else if (armed) {
      out.write("\n");
      return give(undefined);
    } else {
      armed = true;
      out.write("\nCtrl-C again leaves.\n");
    }
    terminal.prompt(true);
  });

  return {
    /** Asks for the next line. @returns undefined when the person leaves. @param draft text to start with. */
    next(prompt: string, draft?: string): Promise<string | undefined> {
      const waits = ahead.shift();
      if (waits !== undefined) {
        out.write(`${prompt}${waits}\n`);
        return Promise.resolve(waits);
      }
      if (closed) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        waiting = resolve;
        shown = true;
        terminal.setPrompt(prompt);
        terminal.prompt(true);
        if (draft !== undefined) terminal.write(draft);
      });
    },
    /** Offers each line that is typed while none is asked for to `take`; lines that it does not take are queued. */
    onTyped(take: (line: string) => boolean): void {
      takeTyped = take;
    },
    /** Sets what Ctrl-C does while no line is asked for. */
    onInterrupt(handle: () => void): void {
      interrupt = handle;
    },
    close(): void {
      terminal.close();
    },
  };
}

/**
 * The lines typed before, oldest first. The file has one JSON string per line, since a typed line may contain line
 * breaks.
 */
function readHistory(): string[] {
  try {
    const lines = readFileSync(historyPath(), "utf8").trimEnd().split("\n");
    return lines.slice(-KEPT_LINES).map((line) => String(ownJson<unknown>(line)).replaceAll("\n", " "));
  } catch {
    return [];
  }
}

function keep(line: string): void {
  const path = historyPath();
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch {
    // Without a writable file there is no history, but the chat continues.
  }
}
