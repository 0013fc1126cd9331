/**
 * Where the data folders of killed servers are: in memory if that may contain programs, else among the temporary files.
 */
import { readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const MEMORY = "/dev/shm";
const BYTES = 1024 ** 3;

/** A killed process does not lose what it passed to the kernel, so a disk would only slow these tests down. */
export function crashRoom(): string {
  try {
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .find((line) => line.split(" ")[1] === MEMORY);
    const { bavail, bsize } = statfsSync(MEMORY);
    return mount && !mount.includes("noexec") && bavail * bsize > BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
