/**
 * Reads untrusted files in separate processes. A file that takes too long, fills the memory or crashes the reader ends
 * only that process.
 */

import { existsSync } from "node:fs";
import { Problem, unavailable } from "../core/errors.ts";
import { ownJson } from "../core/own-json.ts";
import { residentBytes } from "../process/worker-process.ts";
import type { ExtractedDocument, ExtractedSection, ExtractLine } from "./extract/model.ts";

interface ExtractRequest {
  /** Path of the file. */
  path: string;
  /** Declared media type of the file; tells the kinds of text apart. */
  hint?: string | undefined;
  signal: AbortSignal;
  /** Called for each section in reading order; the reader waits until the call has finished. */
  section(section: ExtractedSection): void | Promise<void>;
  progress?(percent: number): void;
}

export type Extractor = ReturnType<typeof createExtractor>;

interface ExtractorLimits {
  /** Longest that a file may take, both in elapsed time and in processor time. */
  timeoutMs: number;
  /** Data that a reader may allocate (`ulimit -d`): the system refuses it more. */
  dataKilobytes: number;
  /** Resident bytes; a reader that holds more is killed. Covers systems that do not enforce `dataKilobytes`. */
  residentBytes: number;
}

export const EXTRACTOR_LIMITS: ExtractorLimits = {
  timeoutMs: 60_000,
  dataKilobytes: 600_000,
  residentBytes: 768 * 1024 * 1024,
};

const WATCH_MS = 50;
/** Most bytes that a reader may write: more than the text of any document within the other limits. */
const OUTPUT_BYTES = 200 * 1024 * 1024;
const LINE_CHARACTERS = 1_000_000;
const SHELL = "/bin/sh";

/** @param command command line of `skep extract`; the file's path and media type are appended. */
export function createExtractor(command: readonly string[], limits: ExtractorLimits = EXTRACTOR_LIMITS) {
  const running = new Set<Bun.Subprocess>();
  let isClosed = false;
  return {
    /** Reads a file. @throws Problem 422 `unreadable` with the reason; the signal's reason when it is aborted. */
    async extract({ path, hint = "", signal, section, progress }: ExtractRequest): Promise<ExtractedDocument> {
      if (isClosed) throw createStoppingProblem();
      signal.throwIfAborted();
      const child = Bun.spawn(addLimits([...command, path, hint], limits), {
        stdin: "ignore",
        stdout: "pipe",
        stderr: "ignore",
        env: {},
      });
      running.add(child);
      let why: "late" | "memory" | "output" | undefined;
      const kill = (reason?: typeof why) => {
        why ??= reason;
        child.kill("SIGKILL");
      };
      const abort = () => kill();
      signal.addEventListener("abort", abort, { once: true });
      const late = setTimeout(() => kill("late"), limits.timeoutMs);
      const watch = setInterval(() => {
        if (residentBytes(child.pid) > limits.residentBytes) kill("memory");
      }, WATCH_MS);
      try {
        const outcome = await outcomeOf(child.stdout, { section, progress, tooMuch: () => kill("output") });
        await child.exited;
        if (isClosed) throw createStoppingProblem();
        signal.throwIfAborted();
        if (outcome?.kind === "end" && why === undefined) return outcome.document;
        throw createUnreadableProblem(
          outcome?.kind === "failed" && why === undefined ? outcome.reason : REASONS[why ?? "ended"],
        );
      } finally {
        clearTimeout(late);
        clearInterval(watch);
        signal.removeEventListener("abort", abort);
        kill();
        running.delete(child);
      }
    },
    /** Process ids of the readers that run now. */
    pids: (): number[] => [...running].map(({ pid }) => pid),
    /** Ends all readers and waits for them. */
    async close(): Promise<void> {
      isClosed = true;
      const all = [...running];
      for (const child of all) child.kill("SIGKILL");
      await Promise.all(all.map(({ exited }) => exited));
    },
  };
}

const REASONS = {
  late: "It takes too long to read.",
  memory: "It needs too much memory to read.",
  output: "It holds too much text.",
  ended: "It is broken, or needs too much memory to read.",
};
const createUnreadableProblem = (reason: string) =>
  new Problem(422, "unreadable", `The file cannot be read. ${reason}`);
const createStoppingProblem = () => unavailable("stopping", "The server stops.");

/**
 * Sets the limits with the shell's `ulimit`, so that the system enforces them even after this process has died. Without
 * a shell, only the timers of `extract` enforce them.
 */
function addLimits(command: readonly string[], { timeoutMs, dataKilobytes }: ExtractorLimits): string[] {
  if (!existsSync(SHELL)) return [...command];
  const seconds = Math.ceil(timeoutMs / 1_000);
  return [SHELL, "-c", `ulimit -d ${dataKilobytes}; ulimit -t ${seconds}; exec "$@"`, "sh", ...command];
}

interface Receiver extends Pick<ExtractRequest, "section" | "progress"> {
  tooMuch(): void;
}
type Outcome = Extract<ExtractLine, { kind: "end" | "failed" }>;

/** Reads the reader's output to its end. @returns the last line; undefined when the reader was cut off before it. */
async function outcomeOf(output: ReadableStream<Uint8Array>, receiver: Receiver): Promise<Outcome | undefined> {
  let bytes = 0;
  let rest = "";
  let outcome: Outcome | undefined;
  const decoder = new TextDecoder();
  for await (const chunk of output) {
    bytes += chunk.byteLength;
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (bytes > OUTPUT_BYTES || rest.length > LINE_CHARACTERS) {
      receiver.tooMuch();
      return undefined;
    }
    for (const text of lines) {
      const line = ownJson<ExtractLine>(text);
      if (line.kind === "section") await receiver.section(line.section);
      else if (line.kind === "progress") receiver.progress?.(line.percent);
      else outcome = line;
    }
  }
  return outcome;
}
