/**
 * Parses many files on several threads. A thread that dies or hangs on a batch is replaced and the files of the batch
 * are tried again one by one, so that one bad file is named and all others are kept.
 */
import { createGrammars } from "../language/grammar.ts";
import { type ParsedFile, type ParseRequest, parseFiles } from "./parse-files.ts";

/** Below this many bytes of source, threads cost more than they gain: each loads its own grammars. */
const MIN_BYTES_FOR_THREADS = 1024 * 1024;
const BATCH_BYTES = 384 * 1024;
const BATCH_FILES = 64;
/** A batch that takes longer is taken to hang. */
const BATCH_TIMEOUT_MS = 60_000;
const EMPTY = new Uint8Array(0);

interface PoolInput {
  root: string;
  files: readonly { path: string; hash: string; size: number }[];
  /** Most threads to use. */
  threads: number;
  /** Called after each batch with the number of files done. */
  progress(done: number): void;
  /** Makes a parsing thread. */
  createThread(): Worker;
  signal?: AbortSignal | undefined;
}

type Batch = ParseRequest["files"];

export async function parseAll(input: PoolInput): Promise<ParsedFile[]> {
  const bytes = input.files.reduce((sum, file) => sum + file.size, 0);
  if (bytes < MIN_BYTES_FOR_THREADS || input.threads < 2) {
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
    let thread: Worker | undefined;
    try {
      for (let batch = queue.shift(); batch && !input.signal?.aborted; batch = queue.shift()) {
        thread ??= input.createThread();
        const parsed = await runBatch(thread, { root: input.root, files: batch });
        if (parsed) results.push(...parsed);
        else {
          thread.terminate();
          thread = undefined;
          if (batch.length > 1) queue.push(...batch.map((file) => [file]));
          else results.push(failed(batch[0]!.path));
        }
        input.progress(results.length);
      }
    } finally {
      thread?.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(input.threads, queue.length) }, lane));
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

/** The batch's files, or undefined when the thread died or hung. */
function runBatch(thread: Worker, request: ParseRequest): Promise<ParsedFile[] | undefined> {
  return new Promise((resolve) => {
    const finish = (files: ParsedFile[] | undefined) => {
      clearTimeout(timer);
      thread.onmessage = null;
      thread.onerror = null;
      resolve(files);
    };
    const timer = setTimeout(() => finish(undefined), BATCH_TIMEOUT_MS);
    thread.onmessage = (event: MessageEvent<ParsedFile[]>) => finish(event.data);
    thread.onerror = () => finish(undefined);
    thread.postMessage(request);
  });
}
