/** Walking a workspace's tree: folder by folder through open handles, links told but never followed. */
import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import type { WalkEntry, WalkOptions, WalkResult } from "../../engine/sandbox.ts";
import { type IgnoreRules, parseIgnoreRules } from "../../working-copy/ignore-rules.ts";
import { errorCode, type Folder, openFolder, type Place } from "./workspace-path.ts";

const MAX_DEPTH = 64;
const MAX_IGNORE_BYTES = 64 * 1024;

interface Walk {
  options: WalkOptions;
  entries: WalkEntry[];
  truncated: boolean;
}

/** A folder's rules and where they begin, outermost first. */
interface Scope {
  prefix: string;
  rules: IgnoreRules;
}

/** Everything below `place`; a file is its own only entry. */
export async function walkFolder(place: Place, options: WalkOptions): Promise<WalkResult> {
  const walk: Walk = { options, entries: [], truncated: false };
  const isFolder = await enterTop(place, walk);
  if (!isFolder) walk.entries.push({ path: place.relative, kind: "file" });
  return { entries: walk.entries, truncated: walk.truncated };
}

async function enterTop(place: Place, walk: Walk): Promise<boolean> {
  let folder: Folder;
  try {
    folder = await openFolder(place.path);
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") return false;
    throw error;
  }
  try {
    await visit(folder, place.relative, [], 0, walk);
    return true;
  } finally {
    await folder.handle.close();
  }
}

async function visit(folder: Folder, path: string, outer: readonly Scope[], depth: number, walk: Walk): Promise<void> {
  if (depth > MAX_DEPTH) {
    walk.truncated = true;
    return;
  }
  const entries = await readdir(folder.path, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const own = walk.options.ignored ? undefined : await readRules(folder, entries.some(isIgnoreFile));
  const scopes = own ? [...outer, { prefix: path === "" ? "" : `${path}/`, rules: own }] : outer;
  for (const entry of entries) {
    walk.options.signal?.throwIfAborted();
    const below = path === "" ? entry.name : `${path}/${entry.name}`;
    const kind = entry.isDirectory() ? "folder" : entry.isFile() ? "file" : entry.isSymbolicLink() ? "link" : undefined;
    if (!kind || entry.name === ".git" || leftOut(scopes, below, kind === "folder")) continue;
    if (walk.entries.length >= walk.options.maxEntries) {
      walk.truncated = true;
      return;
    }
    walk.entries.push({ path: below, kind });
    if (kind === "folder") await descend(folder, entry.name, below, scopes, depth, walk);
  }
}

async function descend(
  parent: Folder,
  name: string,
  path: string,
  scopes: readonly Scope[],
  depth: number,
  walk: Walk,
): Promise<void> {
  let folder: Folder;
  try {
    folder = await openFolder(`${parent.path}/${name}`);
  } catch (error) {
    // Gone, replaced by a link, or closed to us since it was listed.
    if (["ENOENT", "ENOTDIR", "ELOOP", "EACCES"].includes(errorCode(error))) return;
    throw error;
  }
  try {
    await visit(folder, path, scopes, depth + 1, walk);
  } finally {
    await folder.handle.close();
  }
}

const isIgnoreFile = (entry: { name: string; isFile(): boolean }) => entry.name === ".gitignore" && entry.isFile();

/** The innermost rules that say anything about the path decide. */
function leftOut(scopes: readonly Scope[], path: string, isFolder: boolean): boolean {
  for (const { prefix, rules } of scopes.toReversed()) {
    const verdict = rules(path.slice(prefix.length), isFolder);
    if (verdict !== undefined) return verdict;
  }
  return false;
}

async function readRules(folder: Folder, present: boolean): Promise<IgnoreRules | undefined> {
  if (!present) return undefined;
  try {
    const file = await open(
      `${folder.path}/.gitignore`,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      const stats = await file.stat();
      if (!stats.isFile() || stats.size > MAX_IGNORE_BYTES) return undefined;
      return parseIgnoreRules(await file.readFile("utf8"));
    } finally {
      await file.close();
    }
  } catch {
    // Unreadable rules leave nothing out.
    return undefined;
  }
}
