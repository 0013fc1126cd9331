/**
 * Git LFS: a commit holds pointers, and a server holds the files' content. In a run's working copy the content replaces
 * the pointers. A list in the worktree's folder names the replaced files, so that a commit recognizes those that have
 * not changed.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ownJson } from "../../core/own-json.ts";
import { takeTurns } from "../../core/turns.ts";
import { FileError, type Folder, openFolder } from "../../working-copy/folder.ts";
import { eachField, type GitCommand } from "./command.ts";
import { assertRef } from "./names.ts";

export interface LfsPointer {
  /** Path in the working copy, `latin1`. */
  path: string;
  /** Git's object id of the pointer file. */
  blob: string;
  /** SHA-256 of the content. */
  oid: string;
  size: number;
}

/** Size of a pointer file in bytes; smaller and larger files are not pointers. */
const [LEAST_BYTES, MOST_BYTES] = [100, 1024];
/** Most files of that size that are read to find pointers. */
const MOST_CANDIDATES = 20_000;
const ATTRIBUTES_BYTES = 64 * 1024;
const PART_BYTES = 1024 * 1024;
const LIST = "skep-lfs.json";

const POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n$/;

function parsePointer(text: string): { oid: string; size: number } | undefined {
  const [, oid, size] = POINTER.exec(text) ?? [];
  return oid === undefined ? undefined : { oid, size: Number(size) };
}

/** Reads the pointers of a commit. Only looks for them if the `.gitattributes` in its root names Git LFS. */
export async function readPointers(git: GitCommand, repository: string, commit: string): Promise<LfsPointer[]> {
  assertRef(commit);
  const at = { cwd: repository, gitDir: repository };
  const attributes = ["cat-file", "blob", `${commit}:.gitattributes`];
  const { code, stdout } = await git(attributes, { ...at, accept: [128], cutAt: ATTRIBUTES_BYTES });
  if (code !== 0 || !stdout.split("\n").some((line) => line.split("#", 1)[0]?.includes("filter=lfs"))) return [];
  const found: { blob: string; path: string }[] = [];
  await eachField(git, ["ls-tree", "-r", "-l", "-z", commit], at, (text) => {
    const [, blob, size, path] = /^100\d+ blob ([0-9a-f]{40,64}) +(\d+)\t(.*)$/s.exec(text) ?? [];
    if (blob === undefined || path === undefined || path.includes("\ufffd")) return;
    if (Number(size) < LEAST_BYTES || Number(size) > MOST_BYTES || found.length >= MOST_CANDIDATES) return;
    found.push({ blob, path: Buffer.from(path).toString("latin1") });
  });
  if (found.length === 0) return [];
  const pieces: Uint8Array[] = [];
  const stdin = `${found.map(({ blob }) => blob).join("\n")}\n`;
  await git(["cat-file", "--batch"], { ...at, stdin, onOutput: (piece) => void pieces.push(piece.slice()) });
  const all = Buffer.concat(pieces);
  const pointers: LfsPointer[] = [];
  let from = 0;
  for (const { blob, path } of found) {
    const end = all.indexOf(10, from);
    const bytes = Number(all.toString("latin1", from, end).split(" ")[2]);
    if (end < 0 || !Number.isSafeInteger(bytes)) break;
    const pointer = parsePointer(all.toString("latin1", end + 1, end + 1 + bytes));
    if (pointer) pointers.push({ path, blob, ...pointer });
    from = end + 1 + bytes + 1;
  }
  return pointers;
}

/**
 * Replaces pointers by content, in a working copy that no agent has used yet. A file that is no longer the pointer
 * stays.
 * @param admin the worktree's folder with its index. @param pathOf path of a pointer's content; undefined when it is
 * missing.
 */
export async function placeContents(
  { copy, admin }: { copy: string; admin: string },
  pointers: readonly LfsPointer[],
  pathOf: (pointer: LfsPointer) => string | undefined,
): Promise<void> {
  using top = openFolder(copy, "latin1");
  const placed: LfsPointer[] = [];
  const turn = takeTurns();
  for (const pointer of pointers) {
    const content = pathOf(pointer);
    if (content === undefined || !isPointer(top, pointer)) continue;
    const { mode } = top.stat(pointer.path);
    top.unlink(pointer.path);
    using store = openFolder(dirname(content));
    using source = store.openFile(content.slice(dirname(content).length + 1));
    using target = top.newFile(pointer.path, mode & 0o777);
    const part = Buffer.allocUnsafe(PART_BYTES);
    for (let at = 0; at < source.stat.size; ) {
      const count = source.read(part, at);
      if (count === 0) break;
      target.append(part.subarray(0, count));
      at += count;
      await turn();
    }
    placed.push(pointer);
  }
  await writeFile(join(admin, LIST), JSON.stringify(placed));
}

function isPointer(top: Folder, { path, oid }: LfsPointer): boolean {
  try {
    return parsePointer(top.text(path, MOST_BYTES))?.oid === oid;
  } catch (error) {
    if (error instanceof FileError) return false;
    throw error;
  }
}

/**
 * Makes a function that returns the pointer's blob for a file whose content replaced that pointer and has not changed
 * since; undefined for any other file.
 */
export function createStandIns(admin: string): (path: string, data: Buffer) => Promise<string | undefined> {
  const known = new Map<string, LfsPointer>();
  try {
    for (const one of ownJson<LfsPointer[]>(readFileSync(join(admin, LIST), "utf8"))) known.set(one.path, one);
  } catch {
    // Nothing was replaced in this working copy.
  }
  return async (path, data) => {
    const pointer = known.get(path);
    if (pointer?.size !== data.byteLength) return undefined;
    const hash = createHash("sha256");
    const turn = takeTurns();
    for (let at = 0; at < data.byteLength; at += PART_BYTES) {
      await turn();
      hash.update(data.subarray(at, at + PART_BYTES));
    }
    return hash.digest("hex") === pointer.oid ? pointer.blob : undefined;
  };
}
