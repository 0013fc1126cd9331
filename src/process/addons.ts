/**
 * Native add-ons of the compiled executable: kept inside it, unpacked once into the data folder and loaded from there,
 * since /tmp may be mounted noexec and is writable by all. From source they are loaded from node_modules instead.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf, unavailable } from "../core/errors.ts";

export interface EmbeddedAddon {
  /** E.g. `kuzu`. */
  name: string;
  /** Of its bytes, hexadecimal. */
  sha256: string;
  /** Where the executable holds it. */
  embedded: string;
}

/** One folder for the process, as native code is loaded once for the process. */
let keptIn: string | undefined;

/** Says where add-ons that are not loaded yet are unpacked to. Until then: to a private folder that is removed again. */
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

/** @returns its path. Renamed into place, so that another process never sees half of it. */
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

/** Mapped, as loading it does: to read Kuzu's 25 MB and compare them with those inside takes nine times as long. */
function holds(path: string, sha256: string): boolean {
  try {
    return new Bun.CryptoHasher("sha256").update(Bun.mmap(path)).digest("hex") === sha256;
  } catch {
    return false;
  }
}
