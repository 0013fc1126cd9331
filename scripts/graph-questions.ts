/** Latency of the graph's questions over the HTTP API: while the server is idle, during an index, and after it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { startServer, type TestServer } from "../src/testing/server.ts";
import { quantile } from "./bench-figures.ts";
import { copyOf, leaveWorkUnderWay } from "./source-copy.ts";

/** How often each question is asked. The questions are about the most connected functions, methods and classes. */
const QUESTIONS = 200;
const CHANGES = 40;
/** Pause between two questions during an index, in ms. */
const PAUSE_MS = 5;

interface Asked {
  id: string;
  name: string;
}

interface Measured {
  name: string;
  /** Times in ms, in the order of the questions. */
  times: number[];
  /** Size of the largest answer, in bytes. */
  largest: number;
}

/** The table rows for the questions about a folder. */
export async function measureQuestions(path: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "skep-bench-graph-"));
  const server = await startServer({ env: { ALLOW_LOCAL_REPOSITORIES: "true", RATE_LIMIT: "0" } });
  try {
    const repository = copyOf(path, folder);
    const made = await server.request<{ id: string }>("POST", "/v1/projects", { body: { name: "b", repository } });
    const at = `/v1/projects/${made.body.id}/knowledge-graph`;
    while ((await server.request<{ state: string }>("GET", `${at}/status`)).body.state !== "ready")
      await Bun.sleep(200);
    const listed = `${at}/graph-data?labels=Function,Method,Class&limit=${QUESTIONS}`;
    const { nodes } = (await server.request<{ nodes: Asked[] }>("GET", listed)).body;
    const measured = await askIdle(server, at, nodes);
    measured.push(...(await askBesideIndex(server, at, nodes)));
    leaveWorkUnderWay(join(server.data, "projects", made.body.id, "workspace"));
    measured.push(await ask("changes, 8 files", Array(CHANGES).fill(nodes[0]), () => get(server, `${at}/changes`)));
    return measured.map((row) => rowOf(basename(path), row));
  } finally {
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowOf(source: string, { name, times, largest }: Measured): string {
  const formatQuantile = (p: number) => quantile(times, p).toFixed(1);
  const cells = [
    `${source}: ${name}`,
    times.length,
    formatQuantile(0.5),
    formatQuantile(0.99),
    formatQuantile(1),
    (largest / 1_000).toFixed(0),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Reads an answer as bytes, so that the client's parsing is not measured. @throws Error for a failed request. */
async function get(server: TestServer, path: string, body?: unknown): Promise<number> {
  const answer = await fetch(server.url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const bytes = (await answer.arrayBuffer()).byteLength;
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return bytes;
}

async function ask(name: string, nodes: readonly Asked[], question: (node: Asked) => Promise<number>) {
  const measured: Measured = { name, times: [], largest: 0 };
  for (const node of nodes) await time(measured, () => question(node));
  return measured;
}

async function time(measured: Measured, question: () => Promise<number>): Promise<void> {
  const started = performance.now();
  const bytes = await question();
  measured.times.push(performance.now() - started);
  measured.largest = Math.max(measured.largest, bytes);
}

const contextOf = (server: TestServer, at: string, text: string) =>
  get(server, `${at}/context/${encodeURIComponent(text)}`);

async function askIdle(server: TestServer, at: string, nodes: readonly Asked[]): Promise<Measured[]> {
  const splitWords = (name: string) => name.replace(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ");
  return [
    // /healthz answers at once, so its time is that of the machine.
    await ask("/healthz", nodes, () => get(server, "/healthz")),
    await ask("context", nodes, ({ id }) => contextOf(server, at, id)),
    await ask("context, by plain name", nodes, ({ name }) => contextOf(server, at, name)),
    await ask("query, a name", nodes, ({ name }) => get(server, `${at}/query`, { query: name })),
    await ask("query, words, with code", nodes, ({ name }) =>
      get(server, `${at}/query`, { query: splitWords(name), include_code: true }),
    ),
    await ask("impact, depth 3", nodes, ({ id }) => get(server, `${at}/impact`, { target: id })),
  ];
}

/** The effect of a forced index on others: during its whole time, and on the first questions about its result. */
async function askBesideIndex(server: TestServer, at: string, nodes: readonly Asked[]): Promise<Measured[]> {
  const job = await server.request<{ id: string }>("POST", `${at}/index`, { body: { force: true } });
  let running = true;
  const ended = (async () => {
    while (
      (await server.request<{ finished_at: string | null }>("GET", `${at}/index/${job.body.id}`)).body.finished_at ===
      null
    )
      await Bun.sleep(100);
    running = false;
  })();
  const askBeside = async (name: string, question: (node: Asked) => Promise<number>, more: number) => {
    const measured: Measured = { name, times: [], largest: 0 };
    for (let i = 0, left = more; running || left > 0; i++) {
      if (!running) left--;
      await time(measured, () => question(nodes[i % nodes.length]!));
      await Bun.sleep(PAUSE_MS);
    }
    return measured;
  };
  const rows = await Promise.all([
    askBeside("/healthz beside an index", () => get(server, "/healthz"), 0),
    askBeside("context beside an index and after it", ({ id }) => contextOf(server, at, id), QUESTIONS),
  ]);
  await ended;
  return rows;
}
