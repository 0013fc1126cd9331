/**
 * Measures every GET of a server, one at a time: how long an answer takes, and for a slow one, what took the time. The
 * kernel counts how long the server's main thread ran and how long it waited for a processor. A server that blocks (its
 * own work, a duty, garbage collection) can thus be told from a machine that is busy with other programs.
 */
import { readFileSync } from "node:fs";
import type { TestServer } from "../src/testing/server.ts";
import { median, processorMs, quantile } from "./bench-figures.ts";

/** Longest allowed time of a GET at the 99th percentile, in ms, by the number of rows on a page. */
const TARGETS: Record<number, number> = { 50: 10, 200: 20 };
/** If the first answer of a path has not ended by then, it is a stream. A later answer then counts as failed. */
const ENDLESS_MS = 3_000;
/** How many answers of each path are not measured. */
const WARM_UPS = 5;
const FILTERS = [
  "/v1/runs?status=succeeded",
  "/v1/runs?agent_id=scribe",
  "/v1/usage/history?granularity=month",
  "/v1/search?q=number",
];

interface Answer {
  /** Whether the complete answer arrived in time, with status 200. */
  ok: boolean;
  ms: number;
  /** Of this time, how long the server's main thread ran, and how long it waited for a processor. */
  ranMs: number;
  waitedMs: number;
}

interface Measured {
  path: string;
  p50: number;
  p99: number;
  /** Processor time of the whole server for one answer, in ms. */
  processor: number;
  slowest: Answer;
  /** The longest time that the server's main thread ran during one answer, in ms. A busy machine hardly affects it. */
  mostRan: number;
  /** How many answers after the first were not 200 or took too long. Their times count as well. */
  failed: number;
}

/** The kernel's counts for a process's main thread so far, in ms. */
function mainThread(pid: number): { ran: number; waited: number } {
  const [ran, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
  return { ran: Number(ran) / 1e6, waited: Number(waited) / 1e6 };
}

async function answerOf(url: string, pid: number): Promise<Answer> {
  const before = mainThread(pid);
  const began = performance.now();
  const ok = await fetch(url, { signal: AbortSignal.timeout(ENDLESS_MS) }).then(
    (answer) =>
      answer.arrayBuffer().then(
        () => answer.status === 200,
        () => false,
      ),
    () => false,
  );
  const ms = performance.now() - began;
  const { ran, waited } = mainThread(pid);
  return { ok, ms, ranMs: ran - before.ran, waitedMs: waited - before.waited };
}

/** @returns undefined for a path whose first answer is no data. */
async function measure(
  server: TestServer,
  path: string,
  limit: string,
  requests: number,
): Promise<Measured | undefined> {
  const url = `${server.url}${path}${path.includes("?") ? "&" : "?"}limit=${limit}`;
  const answers: Answer[] = [];
  let before = 0;
  let failed = 0;
  for (let n = -WARM_UPS; n < requests; n++) {
    if (n === 0) before = processorMs(server.pid);
    const answer = await answerOf(url, server.pid);
    if (!answer.ok && n === -WARM_UPS) return undefined;
    if (!answer.ok) failed++;
    if (n >= 0) answers.push(answer);
  }
  const times = answers.map(({ ms }) => ms);
  const slowest = answers.reduce((most, one) => (one.ms > most.ms ? one : most));
  const processor = (processorMs(server.pid) - before) / requests;
  const mostRan = Math.max(...answers.map(({ ranMs }) => ranMs));
  return { path, p50: median(times), p99: quantile(times, 0.99), processor, slowest, mostRan, failed };
}

const formatLine = ({ path, p50, p99, processor, slowest, mostRan, failed }: Measured, isOver: boolean): string => {
  const { ms, ranMs, waitedMs } = slowest;
  const figures = [p50, p99, processor, mostRan, ms, ranMs, waitedMs].map((one) => one.toFixed(1).padStart(7));
  return `${isOver ? "!" : " "} ${path.padEnd(48)}${figures.join("")}${failed > 0 ? `   ${failed} failed` : ""}`;
};

/**
 * Prints, for each number of rows, the GETs that exceed their bound or failed, and the slowest of the others.
 * @param made ids that fill in the parameters of paths, by prefix.
 * @param only measures only paths that contain this text.
 */
export async function everyGet(
  server: TestServer,
  made: readonly [prefix: string, id: string][],
  requests: number,
  only = "",
): Promise<void> {
  const all = [...(await listPaths(server, made)), ...FILTERS].filter((path) => path.includes(only));
  for (const [limit, target] of Object.entries(TARGETS)) {
    const found: Measured[] = [];
    for (const path of all) {
      const one = await measure(server, path, limit, requests);
      if (one !== undefined) found.push(one);
    }
    const over = found.filter(({ p99 }) => p99 > target).sort((a, b) => b.p99 - a.p99);
    const rest = found.filter(({ p99 }) => p99 <= target).sort((a, b) => b.p50 - a.p50);
    const own = found.filter(({ mostRan, failed }) => mostRan > target || failed > 0);
    const ran = found.filter(({ mostRan }) => mostRan > target).length;
    const failed = found.reduce((sum, one) => sum + one.failed, 0);
    console.log(
      `${found.length} GETs at ${limit} rows: p99 over ${target} ms: ${over.length}; the server's thread ran longer: ${ran}; failed answers: ${failed}`,
    );
    console.log(`  ${"ms".padEnd(48)}    p50    p99    cpu    ran   slowest: ran waited`);
    for (const one of [...over, ...own.filter((one) => !over.includes(one))]) console.log(formatLine(one, true));
    for (const one of rest.filter((one) => !own.includes(one)).slice(0, 8)) console.log(formatLine(one, false));
  }
}

/** Every path that a GET answers with data, filled in with ids of existing objects. */
async function listPaths(server: TestServer, made: readonly [prefix: string, id: string][]): Promise<string[]> {
  const { body } = await server.request<{ paths: Record<string, Record<string, unknown>> }>("GET", "/openapi.json");
  const idOf = async (path: string) =>
    (await server.request<{ items: { id: string }[] }>("GET", path)).body.items.at(-1)!.id;
  const [run, call] = [await idOf("/v1/runs"), await idOf("/v1/llm-calls")];
  const session = (await server.request<{ session_id: string }>("GET", `/v1/steps/${run}/look`)).body.session_id;
  const ids: [prefix: string, id: string][] = [
    ...made,
    ["/v1/steps/", run],
    ["/v1/sessions/", session],
    ["/v1/agent-tools/", "scribe"],
    ["/v1/pulse-routines/", "scribe"],
    ["/v1/memory/vaults/", "scribe"],
    ["/v1/memory-scores/", "scribe"],
    ["/v1/secrets/agents/", "scribe"],
    ["/v1/runs/", run],
    ["/v1/llm-calls/", call],
    ["/v1/agents/", "scribe"],
    ["/v1/pipelines/", "hello"],
    ["/v1/skills/", "workspace-notes"],
  ];
  const all = Object.entries(body.paths).flatMap(([path, item]) => (item["get"] ? [path] : []));
  return all.flatMap((path) => {
    if (/stream|openapi|docs|logs|knowledge-graph/.test(path)) return [];
    if (!path.includes("{")) return [path];
    // Fill in repeatedly, because the path of a task begins with that of its project.
    const fill = (text: string): string => {
      const [prefix, id] = ids.find(([begin]) => text.startsWith(`${begin}{`)) ?? [];
      return prefix === undefined ? text : fill(text.replace(/\{\w+\}/, id!));
    };
    const filled = fill(path).replace(/\{(step|step_id|stepId)\}/, "look");
    return filled.includes("{") ? [] : [filled];
  });
}
