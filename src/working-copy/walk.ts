/** Walks a tree folder by folder through open descriptors (see folder.ts): links are named, never followed. */
import { sortedInTurns, takeTurns } from "../core/turns.ts";
import { type Entry, FileError, type Folder } from "./folder.ts";
import { type IgnoreRules, MAX_IGNORE_BYTES, parseIgnoreRules } from "./ignore-rules.ts";

export interface WalkOptions {
  /** What ignore files say and everything named `.git` (as when not given), only the latter, or nothing. */
  leaveOut?: "ignored" | "repositories" | "nothing";
  /** Files with such rules; a later one beats an earlier one in the same folder. */
  ignoreFiles?: readonly string[];
  /** Rules that all others beat. */
  baseRules?: IgnoreRules | undefined;
  /** What is walked although rules leave it out. */
  tracked?: Tracked;
  /** False for a folder that is not entered. Called with the open folder. */
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
  /** Open while this part is looked at. */
  folder: Folder;
  /** Of the folder, from the top; "" is the top. */
  path: string;
  /** Some of its entries; the same folder may come several times. */
  entries: readonly Entry[];
}

/** A folder's rules and where they begin, outermost first. */
interface Scope {
  prefix: string;
  rules: IgnoreRules;
}

interface Waiting {
  path: string;
  scopes: readonly Scope[];
  /** The folder itself is left out: only what is tracked in it counts. */
  leftOut: boolean;
}

export const joined = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`);

/**
 * Everything below `top`, in parts: folders by name, each before those in it; the entries of one in no order. Others
 * get their turn in between. Throws FileError when `start` itself cannot be opened.
 * @param start where to begin, from the top; the rules of the folders above hold too
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
        const path = joined(next.path, entry.name);
        const isFolder = entry.kind === "folder";
        const leftOut = next.leftOut || isLeftOut(scopes, path, isFolder);
        const kept = !leftOut || (isFolder ? options.tracked?.hasFolder(path) : options.tracked?.hasFile(path));
        if (!kept) continue;
        entries.push(entry);
        if (isFolder) below.push({ path, scopes, leftOut });
      }
      yield { folder, path: next.path, entries };
    }
    // The last is taken first.
    for (const folderBelow of await sortedInTurns(below, (a, b) => a.path > b.path)) waiting.push(folderBelow);
  }
}

function openWaiting(top: Folder, path: string, isStart: boolean, options: WalkOptions): Folder | undefined {
  let folder: Folder | undefined;
  try {
    folder = top.folder(path);
    if (isStart || options.enter?.(path, folder) !== false) return folder;
  } catch (error) {
    // Gone, replaced by a link, or closed to us since it was listed.
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

/** Rules that cannot be read leave nothing out. */
function readRules(folder: Folder, name: string): string | undefined {
  try {
    return folder.find(name) && folder.text(name, MAX_IGNORE_BYTES);
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}

/** The innermost rules that say anything about the path decide. */
function isLeftOut(scopes: readonly Scope[], path: string, isFolder: boolean): boolean {
  for (let at = scopes.length - 1; at >= 0; at--) {
    const { prefix, rules } = scopes[at]!;
    const verdict = rules(path.slice(prefix.length), isFolder);
    if (verdict !== undefined) return verdict;
  }
  return false;
}
