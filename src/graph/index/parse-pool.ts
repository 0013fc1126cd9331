/**
 * Parses many files in several processes. One that dies, hangs or grows over its bound on a batch is replaced and the files
 * of the batch are tried again one by one, so that one bad file is named and all others are kept.
 */
import { availableParallelism } from "node:os";
import { selfCommand } from "../../process/self-command.ts";
import { WorkerLost, WorkerProcess, type WorkerSetup } from "../../process/worker-process.ts";
import { createGrammars } from "../language/grammar.ts";
import { type ParsedFile, type ParseRequest, parseFiles } from "./parse-files.ts";
import type { ParseReply } from "./parse-worker.ts";

/** Below this many bytes of source, processes cost more than they gain: each loads its own grammars. */
const MIN_BYTES_FOR_PROCESSES = 1024 * 1024;
const MAX_PROCESSES = 8;
const BATCH_BYTES = 384 * 1024;
const BATCH_FILES = 64;
/** A batch that takes longer is taken to hang. */
const BATCH_TIMEOUT_MS = 60_000;
const EMPTY = new Uint8Array(0);

/** @see https://github.com/oven-sh/WebKit/blob/main/Source/JavaScriptCore/runtime/OptionsList.h */
const TUNING = {
  /**
   * Parsing is over before the last tier of compilation has paid for itself, and its compiler takes the cores from the
   * processes that parse.
   */
  BUN_JSC_useFTLJIT: "0",
  /** The collector takes the machine for one with so many bytes. */
  BUN_JSC_forceRAMSize: String(64 * 1024 * 1024),
};

const SETUP: WorkerSetup = {
  name: "parse worker",
  command: selfCommand("parse-worker"),
  env: TUNING,
  memoryBytes: 1024 * 1024 * 1024,
  memoryCheckMs: 500,
  idleMs: 2 * BATCH_TIMEOUT_MS,
};

interface PoolInput {
  root: string;
  files: readonly { path: string; hash: string; size: number }[];
  /** Called after each batch with the number of files done. */
  progress(done: number): void;
  signal?: AbortSignal | undefined;
}

type Batch = ParseRequest["files"];
type ParseProcess = WorkerProcess<ParseReply>;

export async function parseAll(input: PoolInput): Promise<ParsedFile[]> {
  const bytes = input.files.reduce((sum, file) => sum + file.size, 0);
  const processes = Math.min(MAX_PROCESSES, availableParallelism());
  if (bytes < MIN_BYTES_FOR_PROCESSES || processes < 2) {
    let done = 0;
    const parsed = await parseFiles({ root: input.root, files: input.files }, await createGrammars(), () => {
      done++;
      if (done % BATCH_FILES === 0) input.progress(done);
    });
    input.progress(done);
    return parsed;
  }
  const queue = batches(input.files);
  const results: ParsedFile[] = [];
  const lane = async () => {
    let process: ParseProcess | undefined;
    try {
      for (let batch = queue.shift(); batch && !input.signal?.aborted; batch = queue.shift()) {
        process = process?.alive ? process : new WorkerProcess(SETUP, () => {});
        const parsed = await parseBatch(process, { root: input.root, files: batch });
        if (parsed) results.push(...parsed);
        else if (batch.length > 1) queue.push(...batch.map((file) => [file]));
        else results.push(failed(batch[0]!.path));
        input.progress(results.length);
      }
    } finally {
      process?.kill("");
    }
  };
  await Promise.all(Array.from({ length: Math.min(processes, queue.length) }, lane));
  return results;
}

function batches(files: PoolInput["files"]): Batch[] {
  const made: { path: string; hash: string }[][] = [];
  let batch: { path: string; hash: string }[] = [];
  let bytes = 0;
  for (const { path, hash, size } of files) {
    batch.push({ path, hash });
    bytes += size;
    if (bytes < BATCH_BYTES && batch.length < BATCH_FILES) continue;
    made.push(batch);
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) made.push(batch);
  return made;
}

function failed(path: string): ParsedFile {
  return {
    path,
    size: 0,
    modified: 0,
    hash: "",
    note: "the parser crashed or hung on this file",
    facts: EMPTY,
    same: false,
  };
}

/** The batch's files, or undefined when the process was lost under it. */
async function parseBatch(process: ParseProcess, request: ParseRequest): Promise<ParsedFile[] | undefined> {
  let parsed: ParsedFile[] | undefined;
  const take = ({ files }: ParseReply) => {
    parsed = files;
    return { value: files };
  };
  try {
    await process.ask({ what: "a batch", message: { request }, timeoutMs: BATCH_TIMEOUT_MS, take });
    return parsed;
  } catch (error) {
    if (error instanceof WorkerLost) return undefined;
    throw error;
  }
}
