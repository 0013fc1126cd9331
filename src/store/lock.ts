/**
 * Allows one process per data folder. The lock is a kernel lock on the folder itself, so there is no lock file that
 * somebody could remove. It is released when the process dies for any reason. A program that was just being started
 * when the process was killed keeps the folder open until it runs, so a held lock is waited for briefly.
 */
import { dlopen, FFIType, type Pointer, read } from "bun:ffi";
import { closeSync, constants, openSync } from "node:fs";
import { constants as system } from "node:os";
import { openCLibrary } from "../core/c-library.ts";
import { Problem } from "../core/errors.ts";

const EXCLUSIVE = 2;
const AT_ONCE = 4;
const ERRNO = process.platform === "darwin" ? "__error" : "__errno_location";

const PATIENCE_MS = 2_000;
const WAIT_MS = 20;

/**
 * Locks the folder.
 * @param patienceMs how long to wait for a lock that is held.
 * @returns a function that releases it.
 * @throws Problem 409 `data_in_use`, 422 `bad_data_folder`.
 */
export function lockDataFolder(folder: string, patienceMs = PATIENCE_MS): () => void {
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  let code = flock(descriptor);
  for (let waited = 0; isHeld(code) && waited < patienceMs; waited += WAIT_MS) {
    Bun.sleepSync(WAIT_MS);
    code = flock(descriptor);
  }
  let held = true;
  if (code === undefined)
    return () => {
      if (held) closeSync(descriptor);
      held = false;
    };
  closeSync(descriptor);
  if (isHeld(code))
    throw new Problem(
      409,
      "data_in_use",
      `Another skep works on ${folder}. Stop it, or name another folder with --data.`,
    );
  throw new Problem(
    422,
    "bad_data_folder",
    `The file system of ${folder} cannot lock a folder (${code}). Put the data folder on a local disk.`,
  );
}

const isHeld = (code: string | undefined): boolean => code === "EAGAIN" || code === "EWOULDBLOCK";

/** @returns the system's error code when the lock could not be taken. */
function flock(descriptor: number): string | undefined {
  const { lock, errno } = openLibrary();
  if (lock(descriptor, EXCLUSIVE | AT_ONCE) === 0) return undefined;
  const number = read.i32(errno() as Pointer, 0);
  return Object.entries(system.errno).find(([, value]) => value === number)?.[0] ?? `E${number}`;
}

interface Library {
  lock(descriptor: number, how: number): number;
  /** Address of the last error number. */
  errno(): number;
}

/** @throws Error when there is no C library. */
function openLibrary(): Library {
  const functions = {
    flock: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    [ERRNO]: { args: [], returns: FFIType.ptr },
  };
  const { symbols } = openCLibrary((name) => dlopen(name, functions));
  const { flock: lock, [ERRNO]: errno } = symbols as unknown as Record<string, Library["lock"] & Library["errno"]>;
  return { lock: lock!, errno: errno! };
}
