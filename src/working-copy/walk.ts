/** Walks a tree folder by folder through open descriptors (see folder.ts). Links are listed, never followed. */
import { sortedInTurns, takeTurns } from "../core/turns.ts";
import { type Entry, FileError, type Folder } from "./folder.ts";
import { type IgnoreRules, MAX_IGNORE_BYTES, parseIgnoreRules } from "./ignore-rules.ts";

export interface WalkOptions {
  /**
   * `ignored` (the default) leaves out what ignore files name and everything named `.git`; `repositories` only the
   * latter.
   */
  leaveOut?: "ignored" | "repositories" | "nothing";
  /**
   * Names of the ignore files in each folder. In the same folder, a later file takes precedence over an earlier one.
   */
  ignoreFiles?: readonly string[];
  /** Rules with the lowest precedence. */
  baseRules?: IgnoreRules | undefined;
  /** Paths that are walked although ignore rules leave them out. */
  tracked?: Tracked;
  /** Decides whether to enter a folder; called with the open folder. Without it, all are entered. */
  enter?(path: string, folder: Folder): boolean;
  /** Called with a folder that could not be read. */
  onUnreadable?(path: string, error: FileError): void;
  signal?: AbortSignal | undefined;
}

export interface Tracked {
  hasFile(path: string): boolean;
  /** Whether a tracked file is anywhere in this folder. */
  hasFolder(path: string): boolean;
}

export interface WalkedPart {
  /** The folder; it is open only while this part is handled. */
  folder: Folder;
  /** Path of the folder from the top; "" is the top. */
  path: string;
  /** Some of the folder's entries; the same folder may come several times. */
  entries: readonly Entry[];
}

/** Ignore rules of one folder and the path prefix below which they apply. Lists of scopes have the outermost first. */
interface Scope {
  prefix: string;
  rules: IgnoreRules;
}

interface Waiting {
  path: string;
  scopes: readonly Scope[];
  /** Whether the folder itself is left out. Then only tracked paths in it count. */
  leftOut: boolean;
}

export const joinPath = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`);

/**
 * Yields everything below `top` in parts. Folders come sorted by name, each before its subfolders; a folder's entries
 * have no order. Other work gets its turn in between.
 * @param start path of the folder to begin with, from the top; the ignore rules of the folders above it apply too
 * @throws FileError when `start` itself cannot be opened.
 */
export async function* walkBeneath(top: Folder, options: WalkOptions = {}, start = ""): AsyncGenerator<WalkedPart> {
  const turn = takeTurns();
  const waiting: Waiting[] = [{ path: start, scopes: outerScopes(top, start, options), leftOut: false }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    options.signal?.throwIfAborted();
    const opened = openWaiting(top, next.path, next.path === start, options);
    if (!opened) continue;
    using folder = opened;
    const scopes = withOwnRules(folder, next, options);
    const below: Waiting[] = [];
    for (const batch of batchesOf(folder, next.path, options)) {
      await turn();
      const entries: Entry[] = [];
      for (const entry of batch) {
        if (entry.name === ".git" && options.leaveOut !== "nothing") continue;
        const path = joinPath(next.path, entry.name);
        const isFolder = entry.kind === "folder";
        const leftOut = next.leftOut || isLeftOut(scopes, path, isFolder);
        const kept = !leftOut || (isFolder ? options.tracked?.hasFolder(path) : options.tracked?.hasFile(path));
        if (!kept) continue;
        entries.push(entry);
        if (isFolder) below.push({ path, scopes, leftOut });
      }
      yield { folder, path: next.path, entries };
    }
    // `waiting` is a stack, so the folders are pushed in descending order.
    for (const folderBelow of await sortedInTurns(below, (a, b) => a.path > b.path)) waiting.push(folderBelow);
  }
}

function openWaiting(top: Folder, path: string, isStart: boolean, options: WalkOptions): Folder | undefined {
  let folder: Folder | undefined;
  try {
    folder = top.folder(path);
    if (isStart || options.enter?.(path, folder) !== false) return folder;
  } catch (error) {
    // The folder was removed, replaced by a link, or made unreadable since it was listed.
    if (isStart || !(error instanceof FileError)) throw error;
    options.onUnreadable?.(path, error);
  }
  folder?.close();
  return undefined;
}

function* batchesOf(folder: Folder, path: string, options: WalkOptions): Generator<readonly Entry[]> {
  try {
    yield* folder.batches();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    options.onUnreadable?.(path, error);
  }
}

const GITIGNORE = [".gitignore"];

function withOwnRules(folder: Folder, { path, scopes, leftOut }: Waiting, options: WalkOptions): readonly Scope[] {
  if (leftOut || (options.leaveOut ?? "ignored") !== "ignored") return scopes;
  const texts = (options.ignoreFiles ?? GITIGNORE).flatMap((name) => readRules(folder, name) ?? []);
  if (texts.length === 0) return scopes;
  return [...scopes, { prefix: path === "" ? "" : `${path}/`, rules: parseIgnoreRules(texts.join("\n")) }];
}

function outerScopes(top: Folder, start: string, options: WalkOptions): readonly Scope[] {
  let scopes: readonly Scope[] = options.baseRules ? [{ prefix: "", rules: options.baseRules }] : [];
  const parts = start === "" ? [] : start.split("/");
  for (let depth = 0; depth < parts.length; depth++) {
    const path = parts.slice(0, depth).join("/");
    using folder = top.folder(path);
    scopes = withOwnRules(folder, { path, scopes, leftOut: false }, options);
  }
  return scopes;
}

/** Reads an ignore file. A file that cannot be read leaves nothing out. */
function readRules(folder: Folder, name: string): string | undefined {
  try {
    return folder.find(name) && folder.text(name, MAX_IGNORE_BYTES);
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}

/** The innermost rules that say something about the path decide. */
function isLeftOut(scopes: readonly Scope[], path: string, isFolder: boolean): boolean {
  for (let at = scopes.length - 1; at >= 0; at--) {
    const { prefix, rules } = scopes[at]!;
    const verdict = rules(path.slice(prefix.length), isFolder);
    if (verdict !== undefined) return verdict;
  }
  return false;
}
