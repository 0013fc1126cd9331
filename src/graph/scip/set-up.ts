/**
 * A SCIP index that the project's set-up names: a file of its repository. Each index job checks whether the file is
 * another one than the last one imported. The repository is not trusted: the file is opened beneath its folder, without
 * following links, and its size is bounded. If it cannot be used, the error is reported and the graph is built without
 * it.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { membersOf } from "../../core/is-object.ts";
import { ownJson } from "../../core/own-json.ts";
import { FileError, modifiedMs, openFolder } from "../../working-copy/folder.ts";
import { incomingScip } from "./exact-references.ts";

/** Larger indexes of a repository are not read, MiB. */
const MAX_MIB = 50;

/** The file that was looked at last, and why it could not be used. */
interface Seen {
  path: string;
  size: number;
  modified: number;
  error?: string;
}

const seenIn = (store: string): string => join(store, "scip-source.json");

function readSeen(store: string): Seen | undefined {
  try {
    const { path, size, modified, error } = membersOf(ownJson<unknown>(readFileSync(seenIn(store), "utf8")));
    if (typeof path !== "string" || typeof size !== "number" || typeof modified !== "number") return undefined;
    return { path, size, modified, ...(typeof error === "string" ? { error } : {}) };
  } catch {
    return undefined;
  }
}

function writeSeen(store: string, seen: Seen): void {
  const aside = `${seenIn(store)}.new`;
  writeFileSync(aside, JSON.stringify(seen));
  renameSync(aside, seenIn(store));
}

/** Why the set-up's index is not used. Undefined if it is used, or if the set-up names none. */
export const setUpError = (store: string): string | undefined => readSeen(store)?.error;
/** The path of the file that was looked at last. */
export const setUpPath = (store: string): string | undefined => readSeen(store)?.path;

/**
 * Puts the set-up's index beside the graph, if it changed since it was last looked at. The running job then imports it.
 * @param path path relative to the root; undefined if the set-up names no index
 * @returns a function that records why the index could not be used; undefined if there is nothing to import
 */
export function offerSetUp(
  root: string,
  store: string,
  path: string | undefined,
): ((error: string) => void) | undefined {
  if (path === undefined) {
    rmSync(seenIn(store), { force: true });
    return undefined;
  }
  // An index that a person sent takes precedence. The next job checks again.
  if (existsSync(incomingScip(store))) return undefined;
  const last = readSeen(store);
  try {
    using top = openFolder(root);
    using file = top.openFile(path);
    const seen = { path, size: file.stat.size, modified: modifiedMs(file.stat) };
    if (last?.path === path && last.size === seen.size && last.modified === seen.modified) return undefined;
    if (seen.size > MAX_MIB * 1024 * 1024)
      writeSeen(store, { ...seen, error: `${path} is larger than ${MAX_MIB} MiB` });
    else {
      const aside = `${incomingScip(store)}.set-up`;
      writeFileSync(aside, file.readAll());
      renameSync(aside, incomingScip(store));
      writeSeen(store, seen);
      return (error) => writeSeen(store, { ...seen, error });
    }
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    writeSeen(store, { path, size: -1, modified: 0, error: `${path} cannot be read in the repository: ${error.code}` });
  }
  return undefined;
}
