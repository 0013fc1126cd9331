/**
 * Reads over HTTP with a year's data: 10,000 finished runs with all that belongs to them, copied from real ones, and
 * 250 projects' tasks, chats, notes, documents, routines and tool servers, created over HTTP. First compares a list of
 * twenty runs with a bare Elysia route that answers the same bytes. Both are measured in turns, by rate and by
 * processor time, and also while the shown runs are changed many times a second. Then measures every GET, one at a
 * time.
 *
 *   bun scripts/bench-http.ts [--runs 10000] [--rounds 5] [--requests 100] [--writes 100] [--only /v1/search]
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import Database from "better-sqlite3";
import { Elysia } from "elysia";
import { databasePath } from "../src/store/store.ts";
import { startServer, type TestServer } from "../src/testing/server.ts";
import { median, processorMs } from "./bench-figures.ts";
import { everyGet } from "./every-get.ts";
import { fillFolder, fillOthers } from "./year-folder.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    rounds: { type: "string", default: "5" },
    requests: { type: "string", default: "100" },
    writes: { type: "string", default: "100" },
    /** Measures only the GETs whose path contains this text, and not the list beside a bare route. */
    only: { type: "string" },
    bare: { type: "string" },
  },
});
const SECONDS = 2;
const CONNECTIONS = 16;
const LIST = "/v1/runs?limit=20";
/** The bare route does not compress, so ours must not, either. */
const PLAIN = { "Accept-Encoding": "identity" };
const printRow = (name: string, value: string) => console.log(`${name.padEnd(46)} ${value}`);

/** Makes real runs of the shipped pipeline `hello`, then copies them until there are as many as in a year. */
async function fillYear(data: string): Promise<void> {
  const runs = Number(values.runs);
  const { rows, tookMs } = await fillFolder(data, runs);
  const kilobytes = statSync(join(data, "skep.db")).size / runs / 1_000;
  printRow(
    "rows",
    Object.entries(rows)
      .flatMap(([name, count]) => (count > 0 ? [`${name} ${count}`] : []))
      .join(", "),
  );
  printRow("database for each run", `${kilobytes.toFixed(1)} kB (made in ${(tookMs / 1_000).toFixed(0)} s)`);
}

/** Processor time that a server uses for one request. The client and other programs do not count. */
async function costOf(pid: number, url: string): Promise<number> {
  const before = processorMs(pid);
  const answered = (await measureRate(url)) * SECONDS;
  return (processorMs(pid) - before) / answered;
}

async function measureRate(url: string): Promise<number> {
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

/**
 * Changes the runs that the list shows, one after another, `writes` times a second. This process does it rather than
 * the server, which then has to read its pages again as well. @returns a function that stops it.
 */
function startChanges(server: TestServer, ids: readonly string[], writes: number): () => void {
  const db = new Database(databasePath(server.data));
  // The disk is not what is measured.
  db.pragma("synchronous = OFF");
  const change = db.prepare("UPDATE runs SET tokens = tokens + 1 WHERE id = ?");
  let made = 0;
  const timer = setInterval(() => change.run(ids[made++ % ids.length]), 1_000 / writes);
  return () => {
    clearInterval(timer);
    db.close();
  };
}

/** Compares the list with a process that has the same answer ready. */
async function besideBare(server: TestServer): Promise<void> {
  const { body } = await server.request<{ items: { id: string }[] }>("GET", LIST);
  const child = Bun.spawn([process.execPath, import.meta.path, "--bare", JSON.stringify(body)], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const bareUrl = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}/v1/runs`;
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < Number(values.rounds); round++) {
    ours.push(await measureRate(server.url + LIST));
    bare.push(await measureRate(bareUrl));
  }
  const [ourMs, bareMs] = [await costOf(server.pid, server.url + LIST), await costOf(child.pid, bareUrl)];
  const stop = startChanges(
    server,
    body.items.map(({ id }) => id),
    Number(values.writes),
  );
  const changedMs = await costOf(server.pid, server.url + LIST);
  const changed: number[] = [];
  for (let round = 0; round < Number(values.rounds); round++) changed.push(await measureRate(server.url + LIST));
  stop();
  child.kill();
  printRow(
    "processor time of the servers for one",
    `${ourMs.toFixed(3)} ms, ${bareMs.toFixed(3)} ms   ratio ${(bareMs / ourMs).toFixed(2)}`,
  );
  printRow(
    `the same, ${values.writes} changes a second of these runs`,
    `${changedMs.toFixed(3)} ms   ratio ${(bareMs / changedMs).toFixed(2)}; ${median(changed).toFixed(0)} /s   ratio ${(median(changed) / median(bare)).toFixed(2)}`,
  );
  printRow(`GET ${LIST}`, `${median(ours).toFixed(0)} /s`);
  printRow(
    `a bare Elysia route with these ${JSON.stringify(body).length} bytes`,
    `${median(bare).toFixed(0)} /s   ratio ${(median(ours) / median(bare)).toFixed(2)} (target 0.3)`,
  );
}

if (values.bare !== undefined) {
  const body = JSON.parse(values.bare);
  const bare = new Elysia().get("/v1/runs", () => body).listen({ port: 0, hostname: "127.0.0.1" });
  console.log(bare.server!.port);
} else {
  const data = mkdtempSync(join(tmpdir(), "skep-bench-"));
  const load = loadavg()[0]!.toFixed(1);
  console.log(`## http (rounds of ${SECONDS} s, ${CONNECTIONS} connections, client on the same machine, load ${load})`);
  await fillYear(data);
  const server = await startServer({ data, env: { RATE_LIMIT: "0" } });
  try {
    const made = await fillOthers(server);
    if (values.only === undefined) await besideBare(server);
    await everyGet(server, made, Number(values.requests), values.only);
  } finally {
    await server.remove();
    rmSync(data, { recursive: true, force: true });
  }
}
