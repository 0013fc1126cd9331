/** A process that works on what strangers wrote does not outlive the one that would kill it at its limit. */
import { dlopen } from "bun:ffi";
import { openCLibrary } from "../core/c-library.ts";

/** linux/prctl.h */
const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

/**
 * From now on this process is killed when its parent ends, however that ends, and however busy this one is: a message or a
 * closed channel is only heard between two pieces of work. Does nothing on other systems than Linux, where a process
 * cannot ask for it.
 * @throws Error where the system has no C library.
 */
export function endWithParent(): void {
  if (process.platform !== "linux") return;
  const parent = process.ppid;
  const { prctl } = openCLibrary((name) => dlopen(name, { prctl: { args: ["i32", "u64"], returns: "i32" } })).symbols;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It ended before the system was asked.
  if (process.ppid !== parent) process.exit(0);
}
