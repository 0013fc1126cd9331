/** Finds which files an edit changed, by comparing two looks, and parses these files. */
import type { Grammars } from "../language/grammar.ts";
import type { CachedFile } from "../store/fact-cache.ts";
import type { Look } from "./look.ts";
import { parseFiles } from "./parse-files.ts";

export interface EditLimits {
  /** If more files than this changed, a whole index is needed. */
  edited: number;
}

/** If the changed files have more bytes than this, a whole index is needed, which parses in several processes. */
const MAX_EDITED_BYTES = 1024 * 1024;

interface Known {
  files: readonly CachedFile[];
  /** The look after which `files` were read. For the first edit, it is the edit's own look. */
  look: Look;
}

/**
 * @returns all files after an edit, and those that it changed. Undefined if it changed more files than `limits` allow,
 * or more than the content of files.
 */
export async function editedFiles(
  root: string,
  { files, look: before }: Known,
  look: Look,
  grammars: Grammars,
  limits: EditLimits,
) {
  if (!isSame(look, before)) return undefined;
  const asked = changedSince(files, look, before);
  if (!asked || asked.length > limits.edited) return undefined;
  const parsed = new Map((await parseFiles({ root, files: asked }, grammars)).map((file) => [file.path, file]));
  const now = files.slice();
  for (const [row, old] of files.entries()) {
    const file = parsed.get(old.path);
    if (!file) continue;
    const { size, modified, hash, note, facts } = file;
    if (!file.same && (note !== "" || old.note !== "")) return undefined;
    now[row] = file.same
      ? { ...old, size, modified }
      : { path: old.path, size, modified, hash, note, facts: () => facts };
  }
  return { files: now, edited: [...parsed.values()].filter((file) => !file.same) };
}

/**
 * Finds the files whose size or time changed.
 * @param before the look after which the files were read
 * @returns the changed files, as they were; undefined if they are too large now
 */
function changedSince(files: readonly CachedFile[], look: Look, before: Look): CachedFile[] | undefined {
  const [found, known] = [look.walk.files, before.walk.files];
  // For the first edit, `before` is that edit's own look.
  const isKnown = look !== before;
  let bytes = 0;
  const changed: CachedFile[] = [];
  for (const [row, old] of files.entries()) {
    const now = found[row];
    // A look reuses the previous look's entry, the same object, for each file that did not change.
    if (isKnown && now === known[row]) continue;
    if (now?.size === old.size && now.modified === old.modified) continue;
    bytes += now?.size ?? 0;
    changed.push(old);
  }
  return bytes > MAX_EDITED_BYTES ? undefined : changed;
}

/** Whether two looks differ only in the content of source files. */
function isSame(look: Look, before: Look): boolean {
  const [a, b] = [look.walk, before.walk];
  // If no folder changed, both looks have the same `folders` object, and then they list the same files.
  if (look.configs === before.configs && a.folders === b.folders) return true;
  const isListed = (name: "settings" | "configs") => isSameList(a[name], b[name]);
  return (
    look.configs === before.configs &&
    isListed("settings") &&
    isListed("configs") &&
    isSameList(a.files.map(pathOf), b.files.map(pathOf))
  );
}

export const pathOf = ({ path }: { path: string }) => path;
export const isSameList = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((one, i) => one === b[i]);
