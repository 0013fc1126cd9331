/**
 * The server's side of the carrier, the program that moves files in the container (carrier.c describes it and the
 * format of requests). Its answers are as untrusted as the container: each is bounded in bytes, depth, count and time,
 * and a malformed one ends the connection.
 */
import { Problem, unavailable } from "../../../core/errors.ts";
import { LIMITS } from "../../../core/limits.ts";
import type { FileKind } from "../../../working-copy/folder.ts";

/** The carrier's data about an entry. */
export interface FarStat {
  kind: FileKind;
  /** Permission bits only. */
  mode: number;
  size: number;
  /** Differs when the entry has changed. */
  mark: string;
  /** Time of the last change by the clock of the container's machine, seconds. */
  changed: number;
}

export interface FarEntry extends FarStat {
  /** Path from the top, `latin1`. */
  path: string;
  /** Target of a link. */
  target: string;
}

interface Listing {
  entries: FarEntry[];
  /** Paths of folders that could not be listed. */
  unreadable: string[];
  /** When the listing began, by the clock of the container's machine, seconds. */
  time: number;
}

/** Receives a file that is carried back, part by part. */
export interface Sink {
  begin(stat: FarStat): void;
  part(data: Uint8Array): void;
  end(): void;
}

export type Carrier = ReturnType<typeof createCarrier>;

enum Ask {
  list = 1,
  get,
  put,
  folder,
  link,
  remove,
}
const LEFT = 1_001;
const END = 1_002;
const FAULT = 1_003;
const ANSWER_BYTES = 40;
const REQUEST_BYTES = 16;
const PART_BYTES = 256 * 1024;
/** Most bytes of one path component, as in the kernel. */
const NAME_BYTES = 255;
const PATH_BYTES = 4_095;
const ENOENT = 2;
/** Error numbers of ENOSPC and EDQUOT. */
const NO_SPACE = [28, 122];
const ENAMETOOLONG = 36;
const KINDS = new Map<number, FileKind>([
  [0o040000, "folder"],
  [0o100000, "file"],
  [0o120000, "link"],
]);

/**
 * Parses an answer. It yields how many bytes it needs next, or, as a negative number, the most that it takes, and then
 * gets them.
 */
type Reading<T> = Generator<number, T, Buffer>;

interface Waiting {
  /** Passes bytes to the parser. @returns how many it wants next; undefined when the answer is complete. */
  read(data: Buffer): number | undefined;
  wanted: number | undefined;
  reject(why: unknown): void;
}

export const createLostProblem = (why: string): Problem =>
  unavailable("sandbox_lost", `The sandbox's files are gone: ${why}.`);

/** @param write resolves when there is room for more. @param over called once the connection has ended. */
export function createCarrier(write: (data: Uint8Array) => Promise<void>, over: () => void) {
  const waiting: Waiting[] = [];
  let held = Buffer.alloc(0);
  let failure: unknown;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let late: ReturnType<typeof setTimeout> | undefined;
  /** Requests are written one after the other as a whole, because a file's bytes follow its request. */
  let writing: Promise<void> = Promise.resolve();

  const rest = () => {
    clearTimeout(idle);
    clearTimeout(late);
    idle = undefined;
    late = undefined;
  };
  /** Ends the connection: all pending requests fail. */
  const end = (why: unknown) => {
    if (failure !== undefined) return;
    failure = why;
    rest();
    for (const { reject } of waiting.splice(0)) reject(why);
    over();
  };
  /** Restarts the idle timer, because something was read or written. */
  const restartTimer = () => {
    clearTimeout(idle);
    if (waiting.length === 0) return rest();
    idle = setTimeout(() => end(createLostProblem("they do not answer")), LIMITS.carrierIdleMs);
    late ??= setTimeout(() => end(createLostProblem("they take too long")), LIMITS.carrierMs);
  };
  /** Passes bytes to the first pending answer. @returns false when it needs more bytes. */
  const step = (one: Waiting): boolean => {
    const { wanted } = one;
    let data = Buffer.alloc(0);
    if (wanted !== undefined) {
      if (held.length < Math.max(1, wanted)) return false;
      const size = wanted > 0 ? wanted : Math.min(-wanted, held.length);
      data = held.subarray(0, size);
      held = held.subarray(size);
    }
    one.wanted = one.read(data);
    // The parser needs no bytes for this step.
    while (one.wanted === 0) one.wanted = one.read(Buffer.alloc(0));
    if (one.wanted !== undefined) return true;
    waiting.shift();
    clearTimeout(late);
    late = undefined;
    return true;
  };
  /** Takes bytes from the carrier. */
  const feed = (chunk: Uint8Array) => {
    if (failure !== undefined) return;
    held = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
    try {
      for (let first = waiting[0]; first && step(first); first = waiting[0]);
    } catch (error) {
      return end(error);
    }
    if (waiting.length === 0 && held.length > 0) return end(createLostProblem("they said what nobody asked"));
    restartTimer();
  };
  async function ask<T>(request: Uint8Array, reading: Reading<T>, more?: () => Promise<void>): Promise<T> {
    if (failure !== undefined) throw failure;
    const answer = new Promise<T>((resolve, reject) => {
      const read = (data: Buffer) => {
        const { done, value } = reading.next(data);
        if (!done) return value;
        resolve(value);
        return undefined;
      };
      waiting.push({ read, wanted: undefined, reject });
    });
    // The answer may fail before it is awaited; that must not count as unhandled.
    answer.catch(() => {});
    restartTimer();
    const before = writing;
    writing = (async () => {
      await before;
      if (failure !== undefined) return;
      await write(request);
      await more?.();
    })();
    await writing;
    return await answer;
  }

  return {
    feed,
    end,
    list: (): Promise<Listing> => ask(requestOf(Ask.list, "", 0, 0), readListing()),
    /** Carries a file back. @returns false when it is no longer a file of at most `maxBytes`, or cannot be read. */
    bring: (path: string, maxBytes: number, sink: Sink): Promise<boolean> =>
      ask(requestOf(Ask.get, path, 0, maxBytes), readFile(maxBytes, sink)),
    /**
     * Carries a file to the container. @param read fills the buffer with the bytes from a position on; with fewer at
     * the end of the file.
     */
    put: (path: string, mode: number, size: number, read: (into: Uint8Array, at: number) => number): Promise<FarStat> =>
      ask(requestOf(Ask.put, path, mode, size), readStat(path), async () => {
        for (let at = 0; at < size && failure === undefined; ) {
          const part = Buffer.alloc(Math.min(PART_BYTES, size - at));
          // If the file has become shorter, zeros fill the rest. The file has changed then, and is carried again later.
          read(part, at);
          at += part.length;
          await write(part);
          restartTimer();
        }
      }),
    makeFolder: (path: string, mode: number): Promise<FarStat> =>
      ask(requestOf(Ask.folder, path, mode, 0), readStat(path)),
    makeLink: (path: string, target: string): Promise<FarStat> => {
      const text = Buffer.from(target, "latin1");
      return ask(Buffer.concat([requestOf(Ask.link, path, 0, text.length), text]), readStat(path));
    },
    /** Removes an entry and everything below it; a missing entry is no error. */
    remove: (path: string): Promise<void> => ask(requestOf(Ask.remove, path, 0, 0), readEnd(path)),
  };
}

function requestOf(ask: Ask, path: string, mode: number, size: number): Buffer {
  const name = Buffer.from(path, "latin1");
  const request = Buffer.alloc(REQUEST_BYTES + name.length);
  request.writeUInt8(ask, 0);
  request.writeUInt16LE(name.length, 2);
  request.writeUInt32LE(mode & 0o777, 4);
  request.writeUInt32LE(size % 2 ** 32, 8);
  request.writeUInt32LE(Math.floor(size / 2 ** 32), 12);
  name.copy(request, REQUEST_BYTES);
  return request;
}

const readUint64 = (record: Buffer, at: number): number =>
  record.readUInt32LE(at) + record.readUInt32LE(at + 4) * 2 ** 32;
const timeOf = (record: Buffer): number => readUint64(record, 24) + record.readUInt32LE(32) / 1e9;

function statOf(record: Buffer): FarStat {
  const mode = record.readUInt32LE(4);
  return {
    kind: KINDS.get(mode & 0o170000) ?? "other",
    mode: mode & 0o777,
    size: readUint64(record, 16),
    mark: record.toString("latin1", 4, 36),
    changed: timeOf(record),
  };
}

function toProblem(path: string, status: number): Problem {
  if (NO_SPACE.includes(status))
    return new Problem(507, "disk_full", "There is no space left for the sandbox's files.");
  const shown = JSON.stringify(path.slice(0, 200));
  return new Problem(502, "sandbox_refused", `The sandbox does not take ${shown} (error ${status} of its system).`);
}

function* readStat(path: string): Reading<FarStat> {
  const record = yield ANSWER_BYTES;
  const status = record.readUInt32LE(0);
  if (status !== 0) throw toProblem(path, status);
  return statOf(record);
}

function* readEnd(path: string): Reading<void> {
  const status = (yield ANSWER_BYTES).readUInt32LE(0);
  if (status !== 0 && status !== ENOENT) throw toProblem(path, status);
}

function* readFile(maxBytes: number, sink: Sink): Reading<boolean> {
  const record = yield ANSWER_BYTES;
  if (record.readUInt32LE(0) !== 0) return false;
  const stat = statOf(record);
  if (stat.kind !== "file" || stat.size > maxBytes) throw createLostProblem("they do not keep to the form");
  sink.begin(stat);
  for (let left = stat.size; left > 0; ) {
    const part = yield -Math.min(left, PART_BYTES);
    left -= part.length;
    sink.part(part);
  }
  sink.end();
  return true;
}

function* readListing(): Reading<Listing> {
  const listing: Listing = { entries: [], unreadable: [], time: 0 };
  const folders: string[] = [];
  let bytes = 0;
  for (;;) {
    const record = yield ANSWER_BYTES;
    const status = record.readUInt32LE(0);
    if (status === END) {
      listing.time = timeOf(record);
      if (folders.length > 0) throw createLostProblem("they do not keep to the form");
      return listing;
    }
    if (status === LEFT) {
      if (folders.pop() === undefined) throw createLostProblem("they do not keep to the form");
      continue;
    }
    if (status === FAULT) {
      if (readUint64(record, 16) === ENAMETOOLONG) throw tooLarge(`${LIMITS.carriedDepth} folders in each other`);
      listing.unreadable.push(folders.at(-1) ?? "");
      // At most one fault per folder, and each folder is an entry itself.
      if (listing.unreadable.length > listing.entries.length + 1)
        throw createLostProblem("they do not keep to the form");
      continue;
    }
    const [nameBytes, targetBytes] = [record.readUInt16LE(36), record.readUInt16LE(38)];
    // Checked before the text is waited for.
    if (nameBytes > NAME_BYTES || targetBytes > PATH_BYTES) throw createLostProblem("they do not keep to the form");
    const stat = statOf(record);
    const text = (yield nameBytes + targetBytes).toString("latin1");
    const [name, target] = [text.slice(0, nameBytes), text.slice(nameBytes)];
    if (status !== 0 || !isName(name)) throw createLostProblem("they do not keep to the form");
    const path = folders.length === 0 ? name : `${folders.at(-1)}/${name}`;
    if (path.length > PATH_BYTES || target.includes("\0")) throw createLostProblem("they do not keep to the form");
    bytes += stat.kind === "file" ? stat.size : 0;
    if (bytes > LIMITS.carriedBytes) throw tooLarge(`${LIMITS.carriedBytes / 1024 ** 3} GiB`);
    if (listing.entries.length >= LIMITS.carriedEntries) throw tooLarge(`${LIMITS.carriedEntries} files and folders`);
    listing.entries.push({ ...stat, path, target });
    if (stat.kind !== "folder") continue;
    if (folders.length >= LIMITS.carriedDepth) throw tooLarge(`${LIMITS.carriedDepth} folders in each other`);
    folders.push(path);
  }
}

const isName = (name: string): boolean => name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name);

const tooLarge = (bound: string): Problem =>
  new Problem(
    413,
    "workspace_too_large",
    `The sandbox's files are more than ${bound}, and were not brought back. Remove what is not needed, or set SANDBOX_WORKSPACE=mounted.`,
  );
