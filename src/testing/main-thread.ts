/**
 * Measures how long a server's event loop keeps a request waiting. It uses processor time instead of the clock, so that
 * other load on the machine does not change the result.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";

const TICK_MS = 10;

/** Processor time of a process's main thread so far, in ms. */
export function mainThreadMs(pid: number): number {
  const task = `/proc/${pid}/task/${pid}`;
  try {
    return Number(readFileSync(`${task}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    const [user, system] = readFileSync(`${task}/stat`, "utf8").split(") ")[1]!.split(" ").slice(11, 13);
    return (Number(user) + Number(system)) * TICK_MS;
  }
}

/** Processor time of all threads of a process so far, in ms, with a resolution of 10 ms. */
export function processMs(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ").slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

interface LoopWatch {
  /** The most that the main thread worked before it answered one of our requests since the last call, in ms. */
  longestMs(): number;
  /** Resolves when the current request was answered. Everything asked of the server before that is then included. */
  waitForAnswer(): Promise<void>;
  stop(): void;
}

/**
 * Time between an answer and the next request, in ms. Each request costs the server and the test milliseconds; one
 * every 10 ms made up a third of these tests' work. At most this much of a stall goes unnoticed, while a test allows
 * hundreds of milliseconds. Exact bounds leave almost no gap.
 */
const GAP_MS = process.env["EXACT_BOUNDS"] === "true" ? 1 : 50;

const METRIC = /^skep_main_thread_cpu_seconds_total (\S+)$/m;

/**
 * Requests a server's metrics again and again on one connection. Each answer contains how long the main thread has
 * worked, so the work since the request was sent is what the request waited for. The server must need no credentials
 * and limit no request rate.
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
    waitForAnswer: () => answered.promise,
    stop() {
      isStopped = true;
      socket.destroy();
    },
  };
}
