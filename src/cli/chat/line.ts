/** The line in which a person types, with what they typed before. Hidden while an agent writes; what is typed then waits. */

import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { ownJson } from "../../core/own-json.ts";
import { credentialsPath } from "../server/credentials.ts";

export type InputLine = ReturnType<typeof createInputLine>;

const KEPT_LINES = 1_000;
const historyPath = (): string => join(dirname(credentialsPath()), "chat-history.jsonl");

/** @param words what Tab completes at the beginning of a line. */
export function createInputLine(words: readonly string[]) {
  let shown = false;
  const out = process.stdout;
  const gate = new Writable({
    write(chunk, _encoding, done) {
      if (shown) out.write(chunk);
      done();
    },
  });
  // The interface breaks its line by the width of what it writes to.
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
    /** The next line; undefined: the person leaves. @param draft text to start with. */
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
    /** Lines typed while none is asked for wait for their turn, but for those that this takes. */
    onTyped(take: (line: string) => boolean): void {
      takeTyped = take;
    },
    /** What Ctrl-C does while no line is asked for. */
    onInterrupt(handle: () => void): void {
      interrupt = handle;
    },
    close(): void {
      terminal.close();
    },
  };
}

/** Lines that were typed, oldest first. One JSON text a line of the file, since a line may hold line ends. */
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
    // If the file cannot be written there is no history; the chat continues.
  }
}
