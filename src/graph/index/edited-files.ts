/** Which files an edit changed, by two looks, and what is in them now. */
import type { Grammars } from "../language/grammar.ts";
import type { CachedFile } from "../store/fact-cache.ts";
import type { Look } from "./look.ts";
import { parseFiles } from "./parse-files.ts";

export interface EditLimits {
  /** Edits of more files are for a whole index. */
  edited: number;
}

/** More bytes of files are for a whole index, which parses them in several processes. */
const MAX_EDITED_BYTES = 1024 * 1024;

interface Known {
  files: readonly CachedFile[];
  /** That they were read after, or that of the edit itself. */
  look: Look;
}

/** @returns all files after an edit, and those that it changed; undefined where it changed more than contents of a few */
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
 * The files, as they were, that a look finds changed; undefined where they are too large.
 * @param before the look that they were read after
 */
function changedSince(files: readonly CachedFile[], look: Look, before: Look): CachedFile[] | undefined {
  const [found, known] = [look.walk.files, before.walk.files];
  // The first edit takes its own look for that of before.
  const isKnown = look !== before;
  let bytes = 0;
  const changed: CachedFile[] = [];
  for (const [row, old] of files.entries()) {
    const now = found[row];
    // A look keeps what the one before it said of a file that is as it was.
    if (isKnown && now === known[row]) continue;
    if (now?.size === old.size && now.modified === old.modified) continue;
    bytes += now?.size ?? 0;
    changed.push(old);
  }
  return bytes > MAX_EDITED_BYTES ? undefined : changed;
}

/** Whether two looks differ in nothing but the content of source files. */
function isSame(look: Look, before: Look): boolean {
  const [a, b] = [look.walk, before.walk];
  // A look that found the same folders lists the same files.
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
