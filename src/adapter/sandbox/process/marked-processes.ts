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
 * Kills what carries the instance's mark and an id that `isLive` denies, and waits until it is gone.
 * @param mark name of the variable; the id is an execution's unless another is given.
 * @returns how many processes.
 */
export async function killMarked(
  instanceId: string,
  isLive: (id: string) => boolean,
  mark: string = PROCESS_MARK,
): Promise<number> {
  const killed = new Set<number>();
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const found = (await listMarked(`${mark}=${instanceId}/`)).filter(({ id }) => !isLive(id));
    if (found.length === 0 && (await Promise.all([...killed].map(hasEnded))).every(Boolean)) break;
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

/** Whether nothing of it runs any more. A dying process loses its environment, and so its mark, before it has ended. */
async function hasEnded(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat === "" || /^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
}

/** @param start of the variable: what follows is the id. */
async function listMarked(start: string): Promise<{ pid: number; id: string }[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const looks = pids.map(async (name) => {
    // Gone meanwhile, or another user's.
    const variables = (await readFile(`/proc/${name}/environ`, "utf8").catch(() => "")).split("\0");
    const mark = variables.find((one) => one.startsWith(start));
    return mark === undefined ? [] : [{ pid: Number(name), id: mark.slice(start.length) }];
  });
  return (await Promise.all(looks)).flat();
}
