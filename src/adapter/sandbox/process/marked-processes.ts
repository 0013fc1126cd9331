/**
 * Commands of the process sandbox that outlived the server, or left the group they were started in. They are known by
 * a mark in the environment they were started with, which the kernel shows for every process of this user (Linux;
 * elsewhere nothing is found).
 */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Variable that holds `<instance>/<execution>`. */
export const PROCESS_MARK = "SKEP_SANDBOX";

/** A process that forked while it was looked for is found in the next round; one that is dying is waited for. */
const ROUND_MS = 5;
/** A process that the kernel cannot end (it waits for a disk) is left behind after this time. */
const PATIENCE_MS = 10_000;

/**
 * Kills what carries the instance's mark and an execution that `isLive` denies, and waits until it is gone.
 * @returns how many processes.
 */
export async function killMarked(instanceId: string, isLive: (executionId: string) => boolean): Promise<number> {
  const killed = new Set<number>();
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const found = (await marked(instanceId)).filter(({ executionId }) => !isLive(executionId));
    if (found.length === 0) break;
    for (const { pid } of found) {
      killed.add(pid);
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended meanwhile.
      }
    }
    await sleep(ROUND_MS);
  }
  return killed.size;
}

async function marked(instanceId: string): Promise<{ pid: number; executionId: string }[]> {
  const start = `${PROCESS_MARK}=${instanceId}/`;
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const looks = pids.map(async (name) => {
    // Gone meanwhile, or another user's.
    const variables = (await readFile(`/proc/${name}/environ`, "utf8").catch(() => "")).split("\0");
    const mark = variables.find((one) => one.startsWith(start));
    return mark === undefined ? [] : [{ pid: Number(name), executionId: mark.slice(start.length) }];
  });
  return (await Promise.all(looks)).flat();
}
