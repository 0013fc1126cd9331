/** Handles output whose reader has gone (`skep runs | head`) and uncaught errors, for all commands. */
import { codeOf, isDiskFull } from "../core/errors.ts";
import { failureText } from "./failure.ts";

/** What has to be stopped before a command ends early, such as a server of its own. */
const endings = new Set<() => Promise<void>>();

/**
 * Registers `end`, which is called before the command ends early: its reader has gone, or an error was not caught.
 * @returns a function that removes the registration.
 */
export function beforeEarlyEnd(end: () => Promise<void>): () => void {
  endings.add(end);
  return () => void endings.delete(end);
}

/** Whether the output was cut for want of room: the disk or a quota is full, or the file may not become larger. */
const isCut = (error: unknown): boolean => isDiskFull(error) || codeOf(error) === "EFBIG";

let isEnding = false;
/** Only the first reason to end counts, since the functions called here may fail to write as well. */
async function endEarly(code: number): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  await Promise.allSettled([...endings].map((end) => end()));
  process.exit(code);
}

/**
 * A command whose reader has gone ends silently. A command whose output finds no room on the disk fails. A server
 * continues, also after an uncaught error, which the runtime prints.
 * `console.log` is replaced because the runtime's own never reports that its reader has gone. A command that follows
 * something would then never end.
 */
export function watchOutput(isServer: boolean): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error) => {
      if (isServer) return;
      if (!isCut(error)) return void endEarly(Number(process.exitCode ?? 0));
      if (!isEnding)
        process.stderr.write(
          `skep: The output cannot be written whole (${codeOf(error)}). Write it to a disk with room.\n`,
        );
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
