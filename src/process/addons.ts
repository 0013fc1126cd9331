/**
 * Native add-ons of the compiled executable. The executable embeds them, unpacks each once into the data folder and
 * loads it from there.
 * `/tmp` does not serve, since it may be mounted noexec and any user may write to it. When Skep runs from source,
 * add-ons are loaded from node_modules instead.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
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
  const folder = keptIn ?? mkdtempSync(join(tmpdir(), "skep-"));
  const loaded = { exports: {} };
  try {
    open(loaded, unpack(addon, folder));
  } finally {
    if (keptIn === undefined) rmSync(folder, { recursive: true, force: true });
  }
  return loaded.exports;
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

/**
 * Whether the file has this hash. The file is memory-mapped, as loading it does: to read Kuzu's 25 MB and compare them
 * with the embedded bytes takes nine times as long.
 */
function holds(path: string, sha256: string): boolean {
  try {
    return new Bun.CryptoHasher("sha256").update(Bun.mmap(path)).digest("hex") === sha256;
  } catch {
    return false;
  }
}
