/**
 * Compares the files of a working copy with git's index of it. Only files whose status differs from the index are read,
 * through descriptors (see folder.ts).
 * A symbolic link is not followed: its target text is its content. Paths are `latin1`.
 */
import { Problem } from "../core/errors.ts";
import { takeTurns } from "../core/turns.ts";
import { FileError, type FileStat, type Folder } from "./folder.ts";
import type { GitIndex } from "./index-file.ts";
import { GITLINK, type HashName, modeOf, type NewEntry } from "./index-format.ts";
import { isSafeName } from "./safe-name.ts";
import { joinPath, type Tracked, type WalkedPart, type WalkOptions, walkBeneath } from "./walk.ts";

interface CompareOptions {
  /** The working copy's folder, opened with `latin1` names. */
  top: Folder;
  /** The index of the tree to compare with. */
  index: GitIndex;
  hash: HashName;
  /** Files with more bytes than this are left out. */
  maxFileBytes: number;
  /** Whether files of a repository inside the working copy are compared as any others, or left out. */
  nested: "plain" | "left out";
  /** Whether files that the index does not know are read and hashed, or only named. */
  untracked: "read" | "named";
  /** Path of the folder to compare, from the top; everything else counts as unchanged. "" is the whole working copy. */
  start?: string;
  baseRules?: WalkOptions["baseRules"];
  /**
   * The object id of what the repository stores in place of this content (a Git LFS pointer); undefined when it stores
   * the content itself.
   */
  standInOf?(path: string, data: Buffer): Promise<string | undefined>;
  signal?: AbortSignal | undefined;
}

/** A file that is new, or whose content or mode changed. */
export interface ChangedFile extends NewEntry {
  /** Whether the index has an entry for the file. */
  isTracked: boolean;
  /** The new content. Undefined when only the mode changed, or when untracked files are only named. */
  data: Buffer | undefined;
}

export interface LeftOut {
  path: string;
  why: "too large" | "not readable" | "no regular file" | "unusable name";
}

/** The result of a comparison. The lists are complete once `changes` has ended. */
export interface Comparison {
  /** Yields files one by one, as they are found. @throws Problem 413 `workspace_too_large`. */
  changes: AsyncGenerator<ChangedFile>;
  /** Tracked paths that no longer exist. */
  readonly gone: string[];
  /** Files that were not compared. Those among them that are tracked count as unchanged. */
  readonly leftOut: LeftOut[];
  /**
   * Entries to write back to the index: files whose status differs although their content is the same.
   * Tracked files that were left out are included without a status, because it was not read.
   */
  readonly refreshed: NewEntry[];
}

/** A working copy with more files and folders than this is not compared. */
const MAX_ENTRIES = 1_000_000;
const MAX_LEFT_OUT = 1_000;
/** After reading or hashing this many bytes, other work gets a turn. */
const CHUNK_BYTES = 1024 * 1024;
/**
 * A file that changed less than this long ago is read again at the next comparison, because file system clocks are
 * coarse.
 */
const UNSURE_SECONDS = 2;

export function compareWorkingCopy(options: CompareOptions): Comparison {
  const lists = { gone: [], leftOut: [], refreshed: [] };
  return { changes: changesOf(options, lists), ...lists };
}

/** The state of a running comparison. */
interface State {
  options: CompareOptions;
  lists: Omit<Comparison, "changes">;
  /** One byte per row of the index: 1 when the file was found. */
  seen: Uint8Array;
  /** Paths of folders that could not be read, each with a trailing slash. */
  unreadable: string[];
}

/** A file that is new or whose status differs from the index. */
interface Candidate {
  name: string;
  path: string;
  row: number | undefined;
  stat: FileStat;
}

async function* changesOf(options: CompareOptions, lists: Omit<Comparison, "changes">): AsyncGenerator<ChangedFile> {
  const { index, start = "" } = options;
  const state: State = { options, lists, seen: new Uint8Array(index.size), unreadable: [] };
  const onUnreadable = (path: string, { code }: FileError) => {
    if (code === "ENOENT") return;
    state.unreadable.push(`${path}/`);
    leave(state, path, "not readable");
  };
  const sureBefore = Date.now() / 1_000 - UNSURE_SECONDS;
  const turn = takeTurns();
  let entries = 0;
  for await (const part of walkBeneath(options.top, { ...walkOptions(options), onUnreadable }, start)) {
    entries += part.entries.length;
    if (entries > MAX_ENTRIES) throw tooMany();
    for (const candidate of candidatesOf(part, state)) {
      await turn();
      const changed = await changeOf(part.folder, candidate, state, sureBefore);
      if (changed) yield changed;
    }
  }
  for (const path of listUnseen(index, state.seen, start))
    if (!state.unreadable.some((folder) => path.startsWith(folder))) lists.gone.push(path);
}

/** Finds the files to read. Most files are unchanged, so this loop sorts them out without awaiting anything. */
function candidatesOf({ folder, path: at, entries }: WalkedPart, state: State): Candidate[] {
  const { seen } = state;
  const { index } = state.options;
  const known = index.inFolder(at);
  const found: Candidate[] = [];
  for (const { name, kind } of entries) {
    if (kind === "folder") continue;
    const row = known?.get(name);
    if (row !== undefined) {
      seen[row] = 1;
      if (index.mode(row) === GITLINK) continue;
    }
    const stat = lookAt(folder, name);
    if (stat === "gone") forget(state, row);
    else if (stat === "not readable") leave(state, joinPath(at, name), stat, row);
    else if (row === undefined || !index.looksSame(row, stat))
      found.push({ name, path: joinPath(at, name), row, stat });
  }
  return found;
}

function lookAt(folder: Folder, name: string): FileStat | "gone" | "not readable" {
  try {
    return folder.findListed(name) ?? "gone";
  } catch (error) {
    return whyNot(error);
  }
}

function forget({ seen }: State, row: number | undefined): void {
  if (row !== undefined) seen[row] = 0;
}

function leave({ options: { index }, lists }: State, path: string, why: LeftOut["why"], row?: number): void {
  if (lists.leftOut.length < MAX_LEFT_OUT) lists.leftOut.push({ path, why });
  if (row === undefined) return;
  lists.refreshed.push({ path, mode: index.mode(row), objectId: index.objectId(row), stat: undefined });
}

/** Reads a file whose status differs. @returns undefined when its content and mode are unchanged, or it is left out. */
async function changeOf(
  folder: Folder,
  candidate: Candidate,
  state: State,
  sureBefore: number,
): Promise<ChangedFile | undefined> {
  const { index } = state.options;
  const { path, row } = candidate;
  const read = await readEntry(folder, candidate, state.options);
  if (read === "gone") return void forget(state, row);
  if (typeof read === "string") return void leave(state, path, read, row);
  const { stat, objectId, data } = read;
  const isSure = Math.max(stat.changedSeconds, stat.modifiedSeconds) + 1 < sureBefore;
  const made = { path, mode: modeOf(stat), objectId, stat: isSure ? stat : undefined };
  const isSame = row !== undefined && index.objectId(row) === objectId;
  if (!isSame || index.mode(row) !== made.mode)
    return { ...made, isTracked: row !== undefined, data: isSame ? undefined : data };
  state.lists.refreshed.push(made);
  return undefined;
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
      const row = index.row(path);
      return !(row !== undefined && index.mode(row) === GITLINK) && !isOwnRepository(path, folder);
    },
  };
}

/**
 * Which paths the index tracks. The set of folders is built at the first question about one, since few comparisons ask.
 */
export function trackedOf(index: GitIndex): Tracked {
  let folders: Set<string> | undefined;
  const list = () => {
    const found = new Set<string>();
    for (let path of index.folderPaths())
      for (; path !== "" && !found.has(path); path = path.slice(0, Math.max(0, path.lastIndexOf("/")))) found.add(path);
    return found;
  };
  return {
    hasFile: (path) => index.row(path) !== undefined,
    hasFolder(path) {
      folders ??= list();
      return folders.has(path);
    },
  };
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
  { name, path, row, stat }: Candidate,
  { hash, maxFileBytes, untracked, standInOf }: CompareOptions,
): Promise<ReadEntry | LeftOut["why"] | "gone"> {
  if (stat.kind !== "file" && stat.kind !== "link") return "no regular file";
  if (!isSafeName(name, stat.kind === "link")) return "unusable name";
  if (row === undefined && untracked === "named") return { stat, data: undefined, objectId: "" };
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
    return { stat: file.stat, data: read, objectId: (await standInOf?.(path, read)) ?? (await blobId(read, hash)) };
  } catch (error) {
    return whyNot(error);
  }
}

const nextTurn = () => new Promise((next) => setImmediate(next));

/** Computes git's object id of this content. */
async function blobId(data: Buffer, hash: HashName): Promise<string> {
  const hasher = new Bun.CryptoHasher(hash).update(`blob ${data.length}\0`);
  for (let at = 0; at < data.length; at += CHUNK_BYTES) {
    if (at > 0) await nextTurn();
    hasher.update(data.subarray(at, at + CHUNK_BYTES));
  }
  return hasher.digest("hex");
}

function* listUnseen(index: GitIndex, seen: Uint8Array, start: string): Generator<string> {
  const prefix = start === "" ? "" : `${start}/`;
  for (let row = 0; row < seen.length; row++) {
    if (seen[row] === 1 || index.mode(row) === GITLINK) continue;
    const path = index.path(row);
    if (path.startsWith(prefix)) yield path;
  }
}
