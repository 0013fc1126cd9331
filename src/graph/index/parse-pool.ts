/**
 * Parses many files in several processes. A process that dies, hangs or exceeds its memory limit is replaced, and the
 * files of its batch are tried again one by one. So one bad file is reported and all others are kept.
 */
import { availableParallelism } from "node:os";
import { selfCommand } from "../../process/self-command.ts";
import { WorkerLost, WorkerProcess, type WorkerSetup } from "../../process/worker-process.ts";
import { createGrammars } from "../language/grammar.ts";
import { type CachedFile, factsIn } from "../store/fact-cache.ts";
import { type Place, Segment } from "../store/fact-segment.ts";
import type { Scratch } from "../store/graph-store.ts";
import { type ParseRequest, parseFiles } from "./parse-files.ts";
import type { ParseReply } from "./parse-worker.ts";

/** Below this many bytes of source, processes cost more than they gain, as each loads its own grammars. */
const MIN_BYTES_FOR_PROCESSES = 1024 * 1024;
const MAX_PROCESSES = 8;
const BATCH_BYTES = 384 * 1024;
const BATCH_FILES = 64;
/** If a batch takes longer than this, its process is taken to hang. */
const BATCH_TIMEOUT_MS = 60_000;
/**
 * Environment of the parsing processes: options of JavaScriptCore.
 * @see https://github.com/oven-sh/WebKit/blob/main/Source/JavaScriptCore/runtime/OptionsList.h
 */
const TUNING = {
  /**
   * Switches off the last tier of compilation. Parsing is over before that tier has paid for itself, and its compiler
   * takes cores from the processes that parse.
   */
  BUN_JSC_useFTLJIT: "0",
  /** Makes the garbage collector assume a machine with this many bytes of memory. */
  BUN_JSC_forceRAMSize: String(64 * 1024 * 1024),
};

const setupOf = (segment: string): WorkerSetup => ({
  name: "parse worker",
  command: selfCommand("parse-worker", segment),
  env: TUNING,
  memoryBytes: 1024 * 1024 * 1024,
  memoryCheckMs: 500,
  idleMs: 2 * BATCH_TIMEOUT_MS,
});

/** A file as it was read. */
interface PooledFile extends CachedFile {
  /** True if the file has the known content. It then has no facts. */
  same: boolean;
}

interface Work {
  files: readonly { path: string; hash: string; size: number }[];
  /** Called after each batch with the number of files done. */
  progress(done: number): void;
  signal?: AbortSignal | undefined;
}

type Batch = ParseRequest["files"];

/** A parsing process, the path of its segment, and how many bytes of it are written. */
interface Parser {
  process: WorkerProcess<ParseReply>;
  path: string;
  end: number;
}

export interface ParsePool extends Disposable {
  /**
   * Announces that a file of this many bytes may have to be parsed. With enough of them, processes start before
   * `parseAll`.
   */
  expect(bytes: number): void;
  /** Parses files. @throws if the folder cannot be read, or facts cannot be written */
  parseAll(work: Work): Promise<PooledFile[]>;
}

/**
 * @param root the folder of the files
 * @param scratch where the facts are written; they stay there as long as somebody reads them
 */
export function createParsePool(
  root: string,
  scratch: Pick<Scratch, "newPath">,
  timeoutMs = BATCH_TIMEOUT_MS,
): ParsePool {
  const processes = Math.min(MAX_PROCESSES, availableParallelism());
  const waiting: Parser[] = [];
  let expected = 0;

  function startParser(): Parser {
    const path = scratch.newPath();
    return { process: new WorkerProcess(setupOf(path), () => {}), path, end: 0 };
  }

  async function parseHere({ files, progress }: Work): Promise<PooledFile[]> {
    let done = 0;
    const parsed = await parseFiles({ root, files }, await createGrammars(), () => {
      done++;
      if (done % BATCH_FILES === 0) progress(done);
    });
    progress(done);
    return parsed.map(({ facts, ...file }) => ({ ...file, facts: () => facts }));
  }

  async function parseApart({ files, progress, signal }: Work): Promise<PooledFile[]> {
    const queue = toBatches(files);
    const results: Answered[] = [];
    const runLane = async () => {
      let parser = waiting.pop();
      try {
        for (let batch = queue.shift(); batch && !signal?.aborted; batch = queue.shift()) {
          parser = parser?.process.alive ? parser : startParser();
          const parsed = await parseBatch(parser, { root, files: batch }, timeoutMs);
          if (parsed) results.push(...parsed);
          else if (batch.length > 1) queue.push(...batch.map((file) => [file]));
          else results.push({ file: toFailedFile(batch[0]!.path), parser });
          progress(results.length);
        }
      } catch (error) {
        queue.length = 0;
        throw error;
      } finally {
        parser?.process.kill("");
      }
    };
    await Promise.all(Array.from({ length: Math.min(processes, queue.length) }, runLane));
    return storedFiles(results);
  }

  return {
    expect(bytes) {
      if (expected >= MIN_BYTES_FOR_PROCESSES || processes < 2) return;
      expected += bytes;
      while (expected >= MIN_BYTES_FOR_PROCESSES && waiting.length < processes) waiting.push(startParser());
    },
    parseAll(work) {
      const bytes = work.files.reduce((sum, file) => sum + file.size, 0);
      return bytes < MIN_BYTES_FOR_PROCESSES || processes < 2 ? parseHere(work) : parseApart(work);
    },
    [Symbol.dispose]() {
      for (const { process } of waiting.splice(0)) process.kill("");
    },
  };
}

type AnsweredFile = ParseReply["files"][number];

/** A parsed file, and the process whose segment holds its facts. */
interface Answered {
  file: AnsweredFile;
  parser: Parser;
}

function storedFiles(answered: readonly Answered[]): PooledFile[] {
  const segments = new Map<Parser, Segment>();
  return answered.map(({ file: { place, ...file }, parser }) => {
    let segment = segments.get(parser);
    if (!segment) {
      segment = new Segment(parser.path, parser.end);
      segments.set(parser, segment);
    }
    return { ...file, ...factsIn(place.length > 0 ? { ...place, segment } : undefined) };
  });
}

function toBatches(files: Work["files"]): Batch[] {
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

const NOWHERE: Place = { offset: 0, length: 0 };

function toFailedFile(path: string): AnsweredFile {
  const note = "the parser crashed or hung on this file";
  return { path, size: 0, modified: 0, hash: "", note, place: NOWHERE, same: false };
}

/** Parses a batch. @returns undefined if the process was lost meanwhile */
async function parseBatch(parser: Parser, request: ParseRequest, timeoutMs: number): Promise<Answered[] | undefined> {
  let parsed: Answered[] | undefined;
  const take = ({ files, error }: ParseReply) => {
    if (error !== undefined) return { error: new Error(error) };
    for (const { place } of files) parser.end = Math.max(parser.end, place.offset + place.length);
    parsed = files.map((file) => ({ file, parser }));
    return { value: files };
  };
  try {
    await parser.process.ask({ what: "a batch", message: { request }, timeoutMs, take });
    return parsed;
  } catch (error) {
    if (error instanceof WorkerLost) return undefined;
    throw error;
  }
}
