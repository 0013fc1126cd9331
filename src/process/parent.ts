/** A process that works on what strangers wrote does not outlive the one that would kill it at its limit. */
import { dlopen } from "bun:ffi";
import { C_LIBRARIES } from "../core/c-library.ts";

/** linux/prctl.h */
const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

/**
 * From now on this process is killed when its parent ends, however that ends, and however busy this one is: a message or a
 * closed channel is only heard between two pieces of work. On other systems than Linux, where a process cannot ask for
 * it, nothing happens.
 */
export function endWithParent(): void {
  if (process.platform !== "linux") return;
  const parent = process.ppid;
  for (const library of C_LIBRARIES)
    try {
      const { symbols } = dlopen(library, { prctl: { args: ["i32", "u64"], returns: "i32" } });
      symbols.prctl(PR_SET_PDEATHSIG, SIGKILL);
      break;
    } catch {
      // The other C library's name.
    }
  // It ended before the system was asked.
  if (process.ppid !== parent) process.exit(0);
}
