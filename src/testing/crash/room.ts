/** Where the data folders of killed servers are: in memory when that may hold programs, else where temporary files go. */
import { readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const MEMORY = "/dev/shm";
const BYTES = 1024 ** 3;

/** A killed process loses nothing that it gave to the kernel, so a disk would only make these tests wait. */
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
