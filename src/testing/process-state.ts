/** Whether a process runs. One that has ended and that nobody has waited for does not (Linux). */
import { readFileSync } from "node:fs";

export function isRunning(pid: number): boolean {
  try {
    // `pid (name) state …`, where the name may hold anything.
    return !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
