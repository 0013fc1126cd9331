/**
 * Native add-ons of the compiled executable. The executable embeds them, unpacks each once into the data folder and
 * loads it from there.
 * `/tmp` does not serve, since it may be mounted noexec and any user may write to it. When Skep runs from source,
 * add-ons are loaded from node_modules instead.
 */
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { attempt } from "../core/attempt.ts";
import { messageOf, unavailable } from "../core/errors.ts";

export interface EmbeddedAddon {
  /** E.g. `kuzu`. */
  name: string;
  /** SHA-256 of the add-on's bytes, hexadecimal. */
  sha256: string;
  /** Path of the add-on's file inside the executable. */
  embedded: string;
}

/**
 * Folder that add-ons are unpacked to. The whole process has only one, because native code is loaded once per process.
 */
let keptIn: string | undefined;

/**
 * Sets the folder that add-ons are unpacked to from now on. Before the first call, each add-on is unpacked to a private
 * folder, which is removed again.
 */
export function unpackAddonsTo(folder: string): void {
  keptIn = folder;
}

/**
 * Loads an add-on, unpacking it first if the folder does not hold it yet.
 * @throws Problem 503 `addon_unavailable` with the remedy; the file system's error when it cannot be unpacked.
 */
export function loadAddon(addon: EmbeddedAddon): unknown {
  const loaded = { exports: {} };
  const folder = keptIn;
  // If the folder cannot be written, or its disk is full, `skep doctor` still has to read the database in it.
  const kept = folder === undefined ? undefined : attempt(() => unpack(addon, folder));
  if (kept !== undefined) open(loaded, kept);
  else loadFromPrivateFolder(addon, loaded);
  return loaded.exports;
}

function loadFromPrivateFolder(addon: EmbeddedAddon, into: object): void {
  const folder = mkdtempSync(join(tmpdir(), "skep-"));
  try {
    open(into, unpack(addon, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function open(into: object, path: string): void {
  try {
    process.dlopen(into, path, constants.dlopen.RTLD_NOW);
  } catch (error) {
    throw unavailable(
      "addon_unavailable",
      `Cannot load ${path}: ${messageOf(error)}. Its folder must not be mounted noexec (name another data folder with --data); Linux needs glibc 2.34 and libstdc++ 11, or newer.`,
    );
  }
}

/**
 * Unpacks the add-on unless the folder holds it, and removes its older versions. The file is renamed into place, so
 * that no other process sees half of it. @returns its path.
 */
function unpack({ name, sha256, embedded }: EmbeddedAddon, folder: string): string {
  const file = `${name}-${sha256.slice(0, 16)}.node`;
  const path = join(folder, file);
  if (holds(path, sha256)) return path;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, readFileSync(embedded), { mode: 0o500 });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  for (const old of readdirSync(folder))
    if (old !== file && old.startsWith(`${name}-`) && old.endsWith(".node")) rmSync(join(folder, old), { force: true });
  return path;
}

const PIECE_BYTES = 256 * 1024;

/**
 * Whether the file has this hash. It is read in pieces: `Bun.mmap` opens files for writing, which only root may do with
 * this one, so that every start of other users would unpack it again.
 */
function holds(path: string, sha256: string): boolean {
  const file = attempt(() => openSync(path, "r"));
  if (file === undefined) return false;
  try {
    const hasher = new Bun.CryptoHasher("sha256");
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (let size = readSync(file, piece); size > 0; size = readSync(file, piece))
      hasher.update(piece.subarray(0, size));
    return hasher.digest("hex") === sha256;
  } catch {
    return false;
  } finally {
    closeSync(file);
  }
}
