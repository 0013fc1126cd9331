/**
 * Finds and kills commands of the process sandbox that outlived the server, or left their process group. A mark in
 * their initial environment identifies them; on Linux, the kernel shows it for every process of this user. On other
 * systems nothing is found.
 */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Variable that holds `<instance>/<execution>`. */
export const PROCESS_MARK = "SKEP_SANDBOX";

/**
 * Pause between rounds. The next round finds a process that forked during the search, and waits for one that is dying.
 */
const ROUND_MS = 5;
/** After this time, a process that the kernel cannot end (because it waits for a disk) is left behind. */
const PATIENCE_MS = 10_000;

/**
 * Kills the processes that carry the instance's mark and an id for which `isLive` is false, and waits until they are
 * gone.
 * @param mark name of the variable. By default the id is an execution's.
 * @returns the number of processes.
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
        // The process has ended meanwhile.
      }
    }
    await sleep(ROUND_MS);
  }
  return killed.size;
}

/** Whether the process has ended. A dying process loses its environment, and so its mark, before it has ended. */
async function hasEnded(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat === "" || /^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
}

/** @param start beginning of the variable; the id follows it. */
async function listMarked(start: string): Promise<{ pid: number; id: string }[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const looks = pids.map(async (name) => {
    // The process is gone, or another user's.
    const variables = (await readFile(`/proc/${name}/environ`, "utf8").catch(() => "")).split("\0");
    const mark = variables.find((one) => one.startsWith(start));
    return mark === undefined ? [] : [{ pid: Number(name), id: mark.slice(start.length) }];
  });
  return (await Promise.all(looks)).flat();
}
