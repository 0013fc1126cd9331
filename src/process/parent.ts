/**
 * Ends a process that works on untrusted input when its parent ends, because the parent is what kills it at its limits.
 */
import { dlopen } from "bun:ffi";
import { openCLibrary } from "../core/c-library.ts";

/** linux/prctl.h */
const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

/**
 * From now on the system kills this process when its parent ends, for whatever reason and however busy this process is.
 * A message or a closed channel would only be noticed between two pieces of work.
 * Does nothing on systems other than Linux, where a process cannot ask for it.
 * @throws Error when the system has no C library.
 */
export function endWithParent(): void {
  if (process.platform !== "linux") return;
  const parent = process.ppid;
  const { prctl } = openCLibrary((name) => dlopen(name, { prctl: { args: ["i32", "u64"], returns: "i32" } })).symbols;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent ended before `prctl` was called.
  if (process.ppid !== parent) process.exit(0);
}
