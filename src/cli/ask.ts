/** Questions on the terminal; without one, answers are the lines of standard input, in order. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { Problem } from "../core/errors.ts";

let lines: string[] | undefined;

async function nextLine(what: string): Promise<string> {
  lines ??= (await Bun.stdin.text()).split(/\r?\n/);
  const line = lines.shift();
  if (!line) throw new Problem(422, "bad_usage", `Give the ${what} on standard input, or run this in a terminal.`);
  return line;
}

/** @param what e.g. "e-mail address". @throws Problem 422 `bad_usage` when there is nobody to ask, 400 `stopped`. */
export async function ask(what: string): Promise<string> {
  return process.stdin.isTTY ? (await prompt(what, false)).trim() : nextLine(what);
}

/** The same without showing what is typed. */
export async function askHidden(what: string): Promise<string> {
  return process.stdin.isTTY ? prompt(what, true) : nextLine(what);
}

async function prompt(what: string, hidden: boolean): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: hidden ? silent : process.stderr, terminal: true });
  // Asked only now that the terminal no longer echoes: who types ahead is not shown either.
  process.stderr.write(`${what[0]?.toUpperCase()}${what.slice(1)}: `);
  try {
    return await terminal.question("");
  } catch (error) {
    // Ctrl+C and Ctrl+D.
    if (error instanceof Error && error.name === "AbortError")
      throw new Problem(400, "stopped", "Stopped; nothing was changed.");
    throw error;
  } finally {
    terminal.close();
    if (hidden) process.stderr.write("\n");
  }
}
