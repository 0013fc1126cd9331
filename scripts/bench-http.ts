/**
 * Reading over HTTP with a year's data: 10,000 finished runs with all that belongs to them, made of real ones, and 250
 * projects' tasks, chats, notes, documents, routines and tool servers made over HTTP. Twenty runs of a list beside a
 * bare Elysia route that answers the same bytes, in turns, by rate and by processor time; then every GET, one at a time.
 *
 *   bun scripts/bench-http.ts [--runs 10000] [--rounds 5] [--requests 100]
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Elysia } from "elysia";
import { startServer, type TestServer } from "../src/testing/server.ts";
import { median, quantile } from "./bench-figures.ts";
import { fillFolder } from "./year-folder.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    rounds: { type: "string", default: "5" },
    requests: { type: "string", default: "100" },
    bare: { type: "string" },
  },
});
const SECONDS = 2;
const CONNECTIONS = 16;
const LIST = "/v1/runs?limit=20";
/** Most that a GET may take at the 99th percentile, ms, by rows of a page. */
const TARGETS: Record<number, number> = { 50: 10, 200: 20 };
/** Objects of each kind that are made over HTTP. */
const OTHERS = 250;
/** What has not ended by then follows something, and is left out. */
const ENDLESS_MS = 3_000;
/** The bare route does not compress. */
const PLAIN = { "Accept-Encoding": "identity" };
const row = (name: string, value: string) => console.log(`${name.padEnd(46)} ${value}`);

/** Real runs of the shipped `hello`, then as many of them as a year has. */
async function year(data: string): Promise<void> {
  const runs = Number(values.runs);
  const { rows, tookMs } = await fillFolder(data, runs);
  const kilobytes = statSync(join(data, "skep.db")).size / runs / 1_000;
  row(
    "rows",
    Object.entries(rows)
      .flatMap(([name, count]) => (count > 0 ? [`${name} ${count}`] : []))
      .join(", "),
  );
  row("database for each run", `${kilobytes.toFixed(1)} kB (made in ${(tookMs / 1_000).toFixed(0)} s)`);
}

/** Objects of the features that a run does not make. Returns the ids that paths are filled with, by prefix. */
async function others(server: TestServer): Promise<[prefix: string, id: string][]> {
  const post = async (path: string, body: unknown): Promise<string | undefined> => {
    const answer = await server.request<{ id?: string; detail?: string }>("POST", path, { body });
    // Of some kinds a user has 50 at most.
    if (answer.status >= 300 && answer.status !== 409)
      throw new Error(`POST ${path}: ${answer.status} ${answer.body.detail}`);
    return answer.body.id;
  };
  const project = (await post("/v1/projects", { name: "A year" })) ?? "";
  const last: Record<string, string | undefined> = {};
  for (let n = 0; n < OTHERS; n++) {
    const title = `Number ${n}`;
    last["task"] = await post(`/v1/projects/${project}/tasks`, { title, description: "What is to be done." });
    last["chat"] = await post("/v1/chat/sessions", { agent_id: "scribe", title });
    const form = new FormData();
    form.set("file", new File([`# ${title}\n\nWhat it says.\n`], `${n}.md`, { type: "text/markdown" }));
    last["document"] = await post("/v1/ingest/document", form);
    last["routine"] ??= await post("/v1/pulse-routines/scribe", {
      name: title,
      schedule: "0 9 * * 1",
      instructions: title,
    });
    await post("/v1/memory/vaults/scribe/entries", { title, content: `What the scribe knows of number ${n}.` });
    await post("/v1/notification-channels", {
      name: title,
      kind: "webhook",
      url: `https://example.com/${n}`,
      enabled: false,
    });
    const server = { id: `server-${n}`, transport: "http", url: `https://example.com/${n}`, enabled: false };
    last["server"] = await post("/v1/mcp", server);
  }
  const found: [string, string | undefined][] = [
    [`/v1/projects/${project}/tasks/`, last["task"]],
    ["/v1/projects/", project],
    ["/v1/chat/sessions/", last["chat"]],
    ["/v1/documents/", last["document"]],
    [`/v1/pulse-routines/scribe/`, last["routine"]],
    ["/v1/mcp/", last["server"]],
  ];
  return found.filter((one): one is [string, string] => one[1] !== undefined);
}

/** Processor time that a process used so far, ms. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Ours and theirs by what the servers work for one request: what the client and other programs take is not in it. */
async function costOf(pid: number, url: string): Promise<number> {
  const before = processorMs(pid);
  const answered = (await rate(url)) * SECONDS;
  return (processorMs(pid) - before) / answered;
}

async function rate(url: string): Promise<number> {
  let answered = 0;
  const end = performance.now() + SECONDS * 1_000;
  const ask = async () => {
    while (performance.now() < end) {
      const answer = await fetch(url, { headers: PLAIN });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
      answered++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, ask));
  return answered / SECONDS;
}

/** The list beside a process that has its answer at hand. */
async function besideBare(server: TestServer): Promise<void> {
  const { body } = await server.request("GET", LIST);
  const child = Bun.spawn([process.execPath, import.meta.path, "--bare", JSON.stringify(body)], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const bareUrl = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}/v1/runs`;
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < Number(values.rounds); round++) {
    ours.push(await rate(server.url + LIST));
    bare.push(await rate(bareUrl));
  }
  const [ourMs, bareMs] = [await costOf(server.pid, server.url + LIST), await costOf(child.pid, bareUrl)];
  child.kill();
  row(
    "processor time of the servers for one",
    `${ourMs.toFixed(2)} ms, ${bareMs.toFixed(2)} ms   ratio ${(bareMs / ourMs).toFixed(2)}`,
  );
  row(`GET ${LIST}`, `${median(ours).toFixed(0)} /s`);
  row(
    `a bare Elysia route with these ${JSON.stringify(body).length} bytes`,
    `${median(bare).toFixed(0)} /s   ratio ${(median(ours) / median(bare)).toFixed(2)} (target 0.3)`,
  );
}

/** Every path that a GET answers with data, with the ids of what there is. */
async function paths(server: TestServer, made: readonly [prefix: string, id: string][]): Promise<string[]> {
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
    // Again with what was filled in: a task's path begins with its project's.
    const fill = (text: string): string => {
      const [prefix, id] = ids.find(([begin]) => text.startsWith(`${begin}{`)) ?? [];
      return prefix === undefined ? text : fill(text.replace(/\{\w+\}/, id!));
    };
    const filled = fill(path).replace(/\{(step|step_id|stepId)\}/, "look");
    return filled.includes("{") ? [] : [filled];
  });
}

async function everyGet(server: TestServer, made: readonly [prefix: string, id: string][]): Promise<void> {
  const all = await paths(server, made);
  const filters = [
    "/v1/runs?status=succeeded",
    "/v1/runs?agent_id=scribe",
    "/v1/usage/history?granularity=month",
    "/v1/search?q=number",
  ];
  for (const [limit, target] of Object.entries(TARGETS)) {
    const slow: [path: string, p50: number, p99: number, processor: number][] = [];
    let asked = 0;
    for (const path of [...all, ...filters]) {
      const url = `${server.url}${path}${path.includes("?") ? "&" : "?"}limit=${limit}`;
      const times: number[] = [];
      let before = 0;
      for (let n = -5; n < Number(values.requests); n++) {
        if (n === 0) before = processorMs(server.pid);
        const began = performance.now();
        const answer = await fetch(url, { signal: AbortSignal.timeout(ENDLESS_MS) }).catch(() => undefined);
        await answer?.arrayBuffer().catch(() => undefined);
        if (answer?.status !== 200) break;
        if (n >= 0) times.push(performance.now() - began);
      }
      if (times.length === 0) continue;
      asked++;
      const processor = (processorMs(server.pid) - before) / times.length;
      slow.push([path, median(times), quantile(times, 0.99), processor]);
    }
    slow.sort(([, , , a], [, , , b]) => b - a);
    const over = slow.filter(([, , p99]) => p99 > target).length;
    row(`GETs at ${limit} rows`, `${asked}; p99 over ${target} ms: ${over}; p50, p99, and processor time of one:`);
    for (const [path, p50, p99, processor] of slow.slice(0, 8))
      row(`  ${path}`, `${p50.toFixed(1)} ms, ${p99.toFixed(1)} ms, ${processor.toFixed(1)} ms`);
  }
}

if (values.bare !== undefined) {
  const body = JSON.parse(values.bare);
  const bare = new Elysia().get("/v1/runs", () => body).listen({ port: 0, hostname: "127.0.0.1" });
  console.log(bare.server!.port);
} else {
  const data = mkdtempSync(join(tmpdir(), "skep-bench-"));
  const load = loadavg()[0]!.toFixed(1);
  console.log(`## http (rounds of ${SECONDS} s, ${CONNECTIONS} connections, client on the same machine, load ${load})`);
  await year(data);
  const server = await startServer({ data, env: { RATE_LIMIT: "0" } });
  try {
    const made = await others(server);
    await besideBare(server);
    await everyGet(server, made);
  } finally {
    await server.remove();
    rmSync(data, { recursive: true, force: true });
  }
}
