/** The one place for output whose reader has gone (`skep runs | head`), and for errors that nobody waited for. */
import { codeOf } from "../core/errors.ts";
import { failureText } from "./failure.ts";

/** What a command that ends early has to end first: a server of its own. */
const endings = new Set<() => Promise<void>>();

/** Has `end` called before a command ends whose reader has gone, or that broke. @returns a function that forgets it. */
export function beforeEarlyEnd(end: () => Promise<void>): () => void {
  endings.add(end);
  return () => void endings.delete(end);
}

/** Somebody waits for the output and does not get all of it: a full disk, a quota, a limit of files' sizes. */
const LOST = /^(ENOSPC|EDQUOT|EFBIG)$/;

let isEnding = false;
/** Only the first reason to end counts: what is ended may want to write, too. */
async function endEarly(code: number): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  await Promise.allSettled([...endings].map((end) => end()));
  process.exit(code);
}

/**
 * A command whose reader has gone ends without a word: nobody is there to read it. One whose output finds no room fails. A server continues, also after an error
 * that nobody waited for: the runtime prints it.
 * Lines go through the stream: the runtime's `console.log` never says that its reader has gone, so that a command that
 * follows something would never end.
 */
export function watchOutput(isServer: boolean): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error) => {
      if (isServer) return;
      const code = codeOf(error) ?? "";
      if (!LOST.test(code)) return void endEarly(Number(process.exitCode ?? 0));
      if (!isEnding)
        process.stderr.write(`skep: The output cannot be written whole (${code}). Write it to a disk with room.\n`);
      void endEarly(1);
    });
  if (isServer) return;
  process.on("uncaughtException", endWith);
  process.on("unhandledRejection", endWith);
  console.log = (...parts: unknown[]) => void process.stdout.write(`${parts.map(String).join(" ")}\n`);
  console.error = (...parts: unknown[]) => void process.stderr.write(`${parts.map(String).join(" ")}\n`);
}

function endWith(error: unknown): void {
  process.stderr.write(`${failureText(error)}\n`, () => void endEarly(1));
}
