/** Whether a process is running. On Linux, a zombie (ended, but not waited for) does not count. */
import { readFileSync } from "node:fs";

export function isRunning(pid: number): boolean {
  try {
    // The line is `pid (name) state …`; the name may contain any characters.
    return !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
