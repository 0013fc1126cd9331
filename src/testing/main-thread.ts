/**
 * How long a server's event loop was kept from everybody else, told by the processor's time and not by the clock: a
 * machine that is busy with other things changes nothing of it.
 */
import { readFileSync } from "node:fs";

const TICK_MS = 10;

/** Milliseconds that the main thread of a process has worked so far. */
export function mainThreadMs(pid: number): number {
  const task = `/proc/${pid}/task/${pid}`;
  try {
    return Number(readFileSync(`${task}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    const [user, system] = readFileSync(`${task}/stat`, "utf8").split(") ")[1]!.split(" ").slice(11, 13);
    return (Number(user) + Number(system)) * TICK_MS;
  }
}

export interface LoopWatch {
  /** @returns the most that the main thread worked before it answered a request of ours, in ms. */
  stop(): Promise<number>;
}

/**
 * Asks a server over and over for next to nothing. What its main thread works from a request to its answer is what that
 * request waited for, beside the little it needs itself.
 */
export function watchLoop({ url, pid }: { url: string; pid: number }): LoopWatch {
  let watching = true;
  let longest = 0;
  const watched = (async () => {
    while (watching) {
      const before = mainThreadMs(pid);
      await (await fetch(`${url}/v1/status`, { method: "HEAD" })).arrayBuffer();
      longest = Math.max(longest, mainThreadMs(pid) - before);
      await Bun.sleep(1);
    }
  })();
  return {
    async stop() {
      watching = false;
      await watched;
      return longest;
    },
  };
}
