/**
 * What a working copy holds, compared with git's index of it. Files are read from descriptors (see folder.ts), and only
 * those that do not look as the index says; links are taken as links, their text is their content. Paths are `latin1`.
 */
import { Problem } from "../core/errors.ts";
import { takeTurns } from "../core/turns.ts";
import { FileError, type FileStat, type Folder } from "./folder.ts";
import { GITLINK, type GitIndex, type HashName, modeOf, type NewEntry } from "./index-file.ts";
import { isSafeName } from "./safe-name.ts";
import { joined, type Tracked, type WalkOptions, walkBeneath } from "./walk.ts";

export interface CompareOptions {
  /** Opened with `latin1` names. */
  top: Folder;
  /** Stands for the tree to compare with. */
  index: GitIndex;
  hash: HashName;
  /** Larger files are left out. */
  maxFileBytes: number;
  /** Whether files of a repository inside the working copy are taken as any others, or left out. */
  nested: "plain" | "left out";
  /** Files that the index does not know are read, or only named: without their content and its hash. */
  untracked: "read" | "named";
  /** Folder to look at, from the top; the rest is taken for unchanged. "" is all. */
  start?: string;
  baseRules?: WalkOptions["baseRules"];
  signal?: AbortSignal | undefined;
}

/** A file that is new, or has another content or mode. */
export interface ChangedFile extends NewEntry {
  /** Whether the index knows it. */
  isTracked: boolean;
  /** Undefined when only the mode changed, and for what is only named. */
  data: Buffer | undefined;
}

export interface LeftOut {
  path: string;
  why: "too large" | "not readable" | "no regular file" | "unusable name";
}

/** The lists are whole when `changes` has ended. */
export interface Comparison {
  /** Files one by one, as they are found. @throws Problem 413 `workspace_too_large`. */
  changes: AsyncGenerator<ChangedFile>;
  /** Tracked paths that are no more. */
  readonly gone: string[];
  /** Tracked ones among them are taken for unchanged. */
  readonly leftOut: LeftOut[];
  /**
   * Files that look different but have the same content: worth remembering. Tracked ones that were left out are among
   * them, without their look, as nothing is known of it.
   */
  readonly refreshed: NewEntry[];
}

/** More files and folders than this are not compared. */
const MAX_ENTRIES = 1_000_000;
const MAX_LEFT_OUT = 1_000;
/** Read or hashed before others get their turn. */
const CHUNK_BYTES = 1024 * 1024;
/** What changed so shortly before is read again the next time: clocks of file systems are coarse. */
const UNSURE_SECONDS = 2;

export function compareWorkingCopy(options: CompareOptions): Comparison {
  const lists = { gone: [], leftOut: [], refreshed: [] };
  return { changes: changesOf(options, lists), ...lists };
}

async function* changesOf(options: CompareOptions, lists: Omit<Comparison, "changes">): AsyncGenerator<ChangedFile> {
  const { index, start = "" } = options;
  const seen = new Uint8Array(index.rows.size);
  const unreadable: string[] = [];
  const leave = (path: string, why: LeftOut["why"], row?: number) => {
    if (lists.leftOut.length < MAX_LEFT_OUT) lists.leftOut.push({ path, why });
    if (row === undefined) return;
    lists.refreshed.push({ path, mode: index.mode(row), objectId: index.objectId(row), stat: undefined });
  };
  const onUnreadable = (path: string, { code }: FileError) => {
    if (code === "ENOENT") return;
    unreadable.push(`${path}/`);
    leave(path, "not readable");
  };
  const sureBefore = Date.now() / 1_000 - UNSURE_SECONDS;
  const turn = takeTurns();
  let entries = 0;
  for await (const part of walkBeneath(options.top, { ...walkOptions(options), onUnreadable }, start)) {
    entries += part.entries.length;
    if (entries > MAX_ENTRIES) throw tooMany();
    for (const { name, kind } of part.entries) {
      if (kind === "folder") continue;
      const pause = turn();
      if (pause) await pause;
      const path = joined(part.path, name);
      const row = index.rows.get(path);
      if (row !== undefined) seen[row] = 1;
      const stat = differing(index, row, part.folder, name);
      if (stat === undefined) continue;
      const isTracked = row !== undefined;
      const read = typeof stat === "string" ? stat : await readEntry(part.folder, name, stat, isTracked, options);
      if (read === "gone") {
        if (row !== undefined) seen[row] = 0;
      } else if (typeof read === "string") leave(path, read, row);
      else {
        const isSure = Math.max(read.stat.changedSeconds, read.stat.modifiedSeconds) + 1 < sureBefore;
        const made = { path, mode: modeOf(read.stat), objectId: read.objectId, stat: isSure ? read.stat : undefined };
        const isSame = row !== undefined && index.objectId(row) === read.objectId;
        if (isSame && index.mode(row) === made.mode) lists.refreshed.push(made);
        else yield { ...made, isTracked, data: isSame ? undefined : read.data };
      }
    }
  }
  for (const path of unseen(index, seen, start)) {
    if (!unreadable.some((folder) => path.startsWith(folder))) lists.gone.push(path);
  }
}

const tooMany = () =>
  new Problem(413, "workspace_too_large", `The workspace has more than ${MAX_ENTRIES} files and folders.`);

function walkOptions({ index, nested, baseRules, signal }: CompareOptions): WalkOptions {
  const tracked = trackedOf(index);
  const isOwnRepository = (path: string, folder: Folder) =>
    nested === "left out" && folder.find(".git") !== undefined && !tracked.hasFolder(path);
  return {
    tracked,
    baseRules,
    signal,
    enter: (path, folder) => {
      const row = index.rows.get(path);
      return !(row !== undefined && index.mode(row) === GITLINK) && !isOwnRepository(path, folder);
    },
  };
}

/** Folders are put together when they are first asked for, which few working copies do. */
export function trackedOf(index: Pick<GitIndex, "rows">): Tracked {
  let folders: Set<string> | undefined;
  const list = () => {
    const found = new Set<string>();
    for (const path of index.rows.keys())
      for (let at = path.lastIndexOf("/"); at > 0 && !found.has(path.slice(0, at)); at = path.lastIndexOf("/", at - 1))
        found.add(path.slice(0, at));
    return found;
  };
  return {
    hasFile: (path) => index.rows.has(path),
    hasFolder(path) {
      folders ??= list();
      return folders.has(path);
    },
  };
}

/** How it looks when that is not as the index says; undefined for what needs no look inside. */
function differing(
  index: GitIndex,
  row: number | undefined,
  folder: Folder,
  name: string,
): FileStat | LeftOut["why"] | "gone" | undefined {
  if (row !== undefined && index.mode(row) === GITLINK) return undefined;
  try {
    const stat = folder.find(name);
    if (!stat) return "gone";
    return row !== undefined && index.looksSame(row, stat) ? undefined : stat;
  } catch (error) {
    return whyNot(error);
  }
}

function whyNot(error: unknown): "gone" | "not readable" {
  if (!(error instanceof FileError)) throw error;
  return error.code === "ENOENT" ? "gone" : "not readable";
}

interface ReadEntry {
  stat: FileStat;
  objectId: string;
  data: Buffer | undefined;
}

async function readEntry(
  folder: Folder,
  name: string,
  stat: FileStat,
  isTracked: boolean,
  { hash, maxFileBytes, untracked }: CompareOptions,
): Promise<ReadEntry | LeftOut["why"] | "gone"> {
  if (stat.kind !== "file" && stat.kind !== "link") return "no regular file";
  if (!isSafeName(name, stat.kind === "link")) return "unusable name";
  if (!isTracked && untracked === "named") return { stat, data: undefined, objectId: "" };
  try {
    if (stat.kind === "link") {
      const data = Buffer.from(folder.readLink(name), "latin1");
      return { stat, data, objectId: await blobId(data, hash) };
    }
    using file = folder.openFile(name);
    if (file.stat.size > maxFileBytes) return "too large";
    const data = Buffer.allocUnsafe(file.stat.size);
    let size = 0;
    while (size < data.length) {
      const count = file.read(data.subarray(size, size + CHUNK_BYTES), size);
      if (count === 0) break;
      size += count;
      if (size < data.length) await nextTurn();
    }
    const read = data.subarray(0, size);
    return { stat: file.stat, data: read, objectId: await blobId(read, hash) };
  } catch (error) {
    return whyNot(error);
  }
}

const nextTurn = () => new Promise((next) => setImmediate(next));

/** The name that git gives to this content. */
async function blobId(data: Buffer, hash: HashName): Promise<string> {
  const hasher = new Bun.CryptoHasher(hash).update(`blob ${data.length}\0`);
  for (let at = 0; at < data.length; at += CHUNK_BYTES) {
    if (at > 0) await nextTurn();
    hasher.update(data.subarray(at, at + CHUNK_BYTES));
  }
  return hasher.digest("hex");
}

function* unseen(index: GitIndex, seen: Uint8Array, start: string): Generator<string> {
  const prefix = start === "" ? "" : `${start}/`;
  for (const [path, row] of index.rows)
    if (seen[row] === 0 && path.startsWith(prefix) && index.mode(row) !== GITLINK) yield path;
}
