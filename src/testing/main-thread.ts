/**
 * How long a server's event loop keeps a request waiting, measured by the processor's time and not by the clock: a machine
 * that is busy with other things changes nothing of it.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";

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

/** Milliseconds that all threads of a process have worked so far, to a hundredth of a second. */
export function processMs(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ").slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

interface LoopWatch {
  /** The most that the main thread worked before it answered one of our requests, in ms, since this was last asked. */
  longestMs(): number;
  /** Resolves when the request that is under way has been answered: what was asked of the server before is counted then. */
  settled(): Promise<void>;
  stop(): void;
}

/**
 * Between an answer and the next request. Each costs the server and the test milliseconds: one every 10 ms
 * was a third of the work of these files. At most so much of a stall goes by unseen, of the hundreds of milliseconds
 * that a test allows; exact bounds leave no gap.
 */
const GAP_MS = process.env["EXACT_BOUNDS"] === "true" ? 1 : 50;

const METRIC = /^skep_main_thread_cpu_seconds_total (\S+)$/m;

/**
 * Asks a server for its metrics over and over, on one connection. It says itself how long its main thread has worked
 * when it answers: what it worked since our request was sent is what that request waited for. No credential may be
 * needed, and the rate of requests not be limited.
 */
export async function watchLoop({ url, pid }: { url: string; pid: number }): Promise<LoopWatch> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const request = `GET /metrics HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`;
  let [sentAt, answer, longest] = [0, "", 0];
  let isStopped = false;
  let answered = Promise.withResolvers<void>();
  const ask = () => {
    if (isStopped) return;
    answer = "";
    sentAt = mainThreadMs(pid);
    socket.write(request);
  };
  const { promise: began, resolve, reject } = Promise.withResolvers<void>();
  socket.on("error", reject);
  socket.on("connect", ask);
  socket.on("data", (chunk) => {
    answer += chunk;
    const seconds = METRIC.exec(answer)?.[1];
    if (seconds === undefined || !answer.endsWith("\n")) return;
    longest = Math.max(longest, Number(seconds) * 1_000 - sentAt);
    resolve();
    answered.resolve();
    answered = Promise.withResolvers();
    setTimeout(ask, GAP_MS);
  });
  await began;
  longest = 0;
  return {
    longestMs() {
      const ms = longest;
      longest = 0;
      return ms;
    },
    settled: () => answered.promise,
    stop() {
      isStopped = true;
      socket.destroy();
    },
  };
}
