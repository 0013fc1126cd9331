/** Asks questions on the terminal. Without a terminal, the answers are the lines of standard input, in order. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { badUsage, isProblem, Problem } from "../../core/errors.ts";
import { INTERRUPTED_CODE } from "../interrupt.ts";

let lines: string[] | undefined;

/** Whether the person declined to answer: Ctrl-C, Ctrl-D or a no. */
export const isStopped = (error: unknown): error is Problem =>
  isProblem(error) && (error.code === "stopped" || error.code === INTERRUPTED_CODE);

/** Whether there is a person to ask. */
export const hasPerson = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

async function nextLine(what: string): Promise<string> {
  lines ??= (await Bun.stdin.text()).split(/\r?\n/);
  const line = lines.shift();
  if (!line) throw badUsage(`Give the ${what} on standard input, or run this in a terminal.`);
  return line;
}

/**
 * @param what e.g. "e-mail address".
 * @param preferred shown with the question; Enter takes it.
 * @throws Problem 422 `bad_usage` when there is nobody to ask, 400 for which `isStopped` holds.
 */
export async function ask(what: string, preferred?: string): Promise<string> {
  if (!process.stdin.isTTY) return nextLine(what);
  const shown = preferred === undefined ? "" : ` [${preferred}]`;
  return (await prompt(`${capitalize(what)}${shown}: `, false)).trim() || (preferred ?? "");
}

/** Asks until `wrongWith` finds nothing to say about the answer. */
export async function askUntil(
  question: () => Promise<string>,
  wrongWith: (answer: string) => string | undefined,
): Promise<string> {
  for (;;) {
    const answer = await question();
    const wrong = wrongWith(answer);
    if (wrong === undefined) return answer;
    process.stderr.write(`${wrong}\n`);
  }
}

/** Like `ask`, but does not show what is typed. */
export async function askHidden(what: string): Promise<string> {
  return process.stdin.isTTY ? prompt(`${capitalize(what)}: `, true) : nextLine(what);
}

/**
 * Asks until the answer is yes or no. Use it only if there is a person; see `hasPerson`.
 * @param preferred what Enter means. Without it, Enter is no answer.
 */
export async function confirm(question: string, preferred?: boolean): Promise<boolean> {
  const choice = preferred === undefined ? "y/n" : preferred ? "Y/n" : "y/N";
  for (let hint = ""; ; hint = "Answer y or n. ") {
    const answer = (await prompt(`${hint}${question} [${choice}] `, false)).trim();
    if (/^y(es)?$/i.test(answer)) return true;
    if (/^no?$/i.test(answer)) return false;
    if (answer === "" && preferred !== undefined) return preferred;
  }
}

/**
 * Asks for one entry of a numbered list, by its number or label. Enter takes the preferred entry.
 * @param shown how many entries are listed. The others can still be named.
 */
export async function choose<T>(
  what: string,
  options: readonly { label: string; value: T }[],
  preferred = 0,
  shown = options.length,
): Promise<T> {
  for (const [at, { label }] of options.slice(0, shown).entries())
    process.stderr.write(`  ${String(at + 1).padStart(2)}  ${label}\n`);
  for (;;) {
    const answer = (await prompt(`${what} [${preferred + 1}]: `, false)).trim();
    const found =
      options[answer === "" ? preferred : Number(answer) - 1] ?? options.find(({ label }) => label === answer);
    if (found) return found.value;
    process.stderr.write(`There is no "${answer}" here. Give a number from 1 to ${shown}, or a name.\n`);
  }
}

const capitalize = (text: string): string => `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`;

async function prompt(question: string, hidden: boolean): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: hidden ? silent : process.stderr, terminal: true });
  const interrupt = new AbortController();
  terminal.on("SIGINT", () => interrupt.abort());
  // Show the prompt only after echo is off, so that text typed ahead is not shown either.
  if (hidden) process.stderr.write(question);
  try {
    return await terminal.question(hidden ? "" : question, { signal: interrupt.signal });
  } catch (error) {
    // Ctrl+C or Ctrl+D: the cursor is still behind the question.
    if (error instanceof Error && error.name === "AbortError") {
      if (!hidden) process.stderr.write("\n");
      const code = interrupt.signal.aborted ? INTERRUPTED_CODE : "stopped";
      throw new Problem(400, code, "Stopped; nothing was changed.");
    }
    throw error;
  } finally {
    terminal.close();
    if (hidden) process.stderr.write("\n");
  }
}
