/**
 * A repository's git index, supplemented by what an earlier read found out about its files.
 *
 * Git's own index must not be written, and it often says little: after a clone or a change of owner every file looks
 * changed. A copy keeps what was read. The copy is used as long as git's index stays the same.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GitIndex } from "../../working-copy/index-file.ts";
import type { NewEntry } from "../../working-copy/index-format.ts";
import { writeIndex } from "../../working-copy/index-writer.ts";
import { type GitPlace, type Repository, runGit } from "./git.ts";

interface KnownIndex {
  index: GitIndex;
  /**
   * Stores the entries that were read since. Entries without times will be read again. A failure to store is not an
   * error: everything is then read again.
   */
  remember(entries: readonly NewEntry[]): Promise<void>;
}

const COPY = "git-index";
const STAMP = "git-index.stamp";

/**
 * @param folder where the copy is kept
 * @returns undefined if git cannot list its index
 */
export async function knownIndex(
  place: GitPlace,
  { index: path, hash }: Repository,
  folder: string,
): Promise<KnownIndex | undefined> {
  const stamp = stampOf(path);
  const copy = stamp !== "" && stamp === readStamp(folder) ? await readIndex(join(folder, COPY), hash) : undefined;
  const index = copy ?? (await ownIndex(place, { index: path, hash }));
  return index && { index, remember: (entries) => remember(folder, stamp, index, entries) };
}

/** Reads git's own index, in any format. @returns undefined if git cannot list it */
export async function ownIndex(
  place: GitPlace,
  { index, hash }: Pick<Repository, "index" | "hash">,
): Promise<GitIndex | undefined> {
  return (await readIndex(index, hash)) ?? (await listedIndex(place, hash));
}

async function readIndex(path: string, hash: Repository["hash"]): Promise<GitIndex | undefined> {
  try {
    return await GitIndex.parse(readFileSync(path), hash, statSync(path).mtimeMs / 1_000);
  } catch {
    return undefined;
  }
}

/**
 * Asks git to list an index that cannot be parsed: one of another version, during a merge, or a missing one. The
 * entries have paths, modes and object ids, but no times.
 */
async function listedIndex(place: GitPlace, hash: Repository["hash"]): Promise<GitIndex | undefined> {
  const text = await runGit(place, ["ls-files", "-z", "--stage", "--full-name", ":/"]);
  const entries = new Map<string, NewEntry>();
  for (const line of text?.split("\0") ?? []) {
    const [, mode, objectId, name] = /^(\d+) ([0-9a-f]+) \d\t(.*)$/s.exec(line) ?? [];
    if (mode === undefined || objectId === undefined || name === undefined) continue;
    const path = Buffer.from(name).toString("latin1");
    entries.set(path, { path, mode: Number.parseInt(mode, 8), objectId, stat: undefined });
  }
  return text === undefined ? undefined : GitIndex.of([...entries.values()], hash);
}

async function remember(folder: string, stamp: string, before: GitIndex, entries: readonly NewEntry[]): Promise<void> {
  const aside = join(folder, `${COPY}.${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true });
    rmSync(aside, { force: true });
    // The contents are the same, so the copy stands for the same tree.
    const { tree } = before;
    await writeIndex(aside, before, { entries, gone: [], ...(tree === undefined ? {} : { tree }) });
    rmSync(join(folder, STAMP), { force: true });
    renameSync(aside, join(folder, COPY));
    writeFileSync(join(folder, STAMP), stamp);
  } catch {
    rmSync(aside, { force: true });
  }
}

/** Identifies a state of git's index; "" if there is none. */
function stampOf(index: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(index);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return "";
  }
}

function readStamp(folder: string): string {
  try {
    return readFileSync(join(folder, STAMP), "utf8");
  } catch {
    return "";
  }
}
