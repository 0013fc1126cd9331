/** The code graph over HTTP: index jobs, questions, and the effects of a change, a restart and a cancellation. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { scipOf } from "../../testing/scip-sample.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { createSourceTree, manyFiles, SHOP, type SourceTree } from "../../testing/source-tree.ts";
import type { GraphStatus, IndexJob } from "./model.ts";

setDefaultTimeout(300_000);
const ENV = { ALLOW_LOCAL_REPOSITORIES: "true" };
let server: TestServer;
let shop: SourceTree;
let project: string;
const trees: SourceTree[] = [];

beforeAll(async () => {
  shop = createSourceTree(SHOP);
  trees.push(shop);
  server = await startServer({ env: ENV });
  project = await projectOf("shop", shop.root);
  await waitForIndex(project);
});
afterAll(async () => {
  await server.remove();
  for (const tree of trees) tree.remove();
});

async function projectOf(name: string, repository?: string): Promise<string> {
  const body = { name, ...(repository ? { repository } : {}) };
  return (await server.request<{ id: string }>("POST", "/v1/projects", { body })).body.id;
}

const NOTHING_UNREAD = { files: 0, lines: 0, share: 0, worst: [] };

interface Received {
  id: number;
  project_id: string;
  kind: string;
  data: { job_id: string; state: string; phases?: IndexJob["phases"] };
}

/** Reads events of a project's graph, past ones first, until one fits. */
async function until(id: string, fits: (event: Received) => boolean, after = 0): Promise<Received[]> {
  const path = `/v1/events/stream?after=${after}&kinds=index_progress,index_complete`;
  const isIts = (event: Received) => event.project_id === id;
  const frames = await framesUntil(framesOf<Received>(server, path), ({ data }) => isIts(data) && fits(data));
  return frames.map(({ data }) => data).filter(isIts);
}

const waitForIndex = (id: string, after = 0) => until(id, ({ kind }) => kind === "index_complete", after);
const at = (path: string, id = project) => `/v1/projects/${id}/knowledge-graph${path}`;
const get = <T>(path: string, id = project) => server.request<T>("GET", at(path, id));
const post = <T>(path: string, body: unknown, id = project) => server.request<T>("POST", at(path, id), { body });
const names = (symbols: { name: string }[]) => symbols.map(({ name }) => name).sort();
interface Named {
  symbol: { id: string; name: string };
}

test("a SCIP index that is sent makes calls exact, in a job that says what it brought, until it is forgotten", async () => {
  const tree = createSourceTree(SHOP);
  trees.push(tree);
  const id = await projectOf("exact", tree.root);
  await waitForIndex(id);
  const symbol = "t npm shop 1 tax.ts/withTax().";
  const line = (SHOP["src/cart.ts"] ?? "").split("\n")[11] ?? "";
  const start = line.indexOf("withTax");
  const sample = {
    "src/tax.ts": [{ line: 0, start: 16, end: 23, symbol, definition: true as const }],
    "src/cart.ts": [{ line: 11, start, end: start + 7, symbol }],
    "src/gone.ts": [],
  };
  const send = (content: Uint8Array | string) => {
    const form = new FormData();
    form.set("file", new File([content], "index.scip"));
    return server.request<IndexJob>("POST", at("/scip", id), { body: form });
  };
  const waitForEnd = async ({ body }: { body: IndexJob }) => {
    await until(id, ({ kind, data }) => kind === "index_complete" && data.job_id === body.id);
    return (await get<IndexJob>(`/index/${body.id}`, id)).body;
  };
  const sent = await send(scipOf(sample));
  expect(sent.status).toBe(202);
  const { state, report } = await waitForEnd(sent);
  expect([state, report?.scip]).toEqual(["succeeded", { files: 2, calls: 1, stale: ["src/gone.ts"], stale_count: 1 }]);
  expect((await get<GraphStatus>("/status", id)).body).toMatchObject({ state: "ready", exact: { files: 2, calls: 1 } });
  const context = await get<{ callers: { reason: string }[] }>("/context/withTax", id);
  expect(context.body.callers.map(({ reason }) => reason)).toEqual(["exact"]);
  const failed = await waitForEnd(await send("no index"));
  expect([failed.state, failed.error?.message]).toEqual([
    "failed",
    "The SCIP index cannot be used: it is no SCIP index.",
  ]);
  const gone = await waitForEnd(await server.request<IndexJob>("DELETE", at("/scip", id)));
  expect([gone.state, (await get<GraphStatus>("/status", id)).body.exact]).toEqual([
    "succeeded",
    { files: 0, calls: 0 },
  ]);
  expect((await server.request("POST", at("/scip", id), { body: {} })).status).toBe(422);
});

test("a SCIP index that the set-up names is taken in when the graph is refreshed; one that fails is said in status", async () => {
  const tree = createSourceTree(SHOP);
  trees.push(tree);
  const symbol = "t npm shop 1 tax.ts/withTax().";
  const line = (SHOP["src/cart.ts"] ?? "").split("\n")[11] ?? "";
  const start = line.indexOf("withTax");
  tree.write(
    "index.scip",
    scipOf({
      "src/tax.ts": [{ line: 0, start: 16, end: 23, symbol, definition: true }],
      "src/cart.ts": [{ line: 11, start, end: start + 7, symbol }],
    }),
  );
  tree.git("add", "-A");
  tree.git("commit", "-qm", "with an index of the compiler");
  const id = await projectOf("set-up", tree.root);
  const first = await waitForIndex(id);
  const set = (scip_path: string | null) =>
    server.request<{ scip_path: string | null }>("PUT", `/v1/projects/${id}`, { body: { scip_path } });
  for (const path of ["/etc/passwd", "../index.scip", "a/../../b", "a//b", "."])
    expect((await set(path)).status).toBe(422);
  expect((await set("index.scip")).body.scip_path).toBe("index.scip");
  const second = await waitForIndex(id, first.at(-1)!.id);
  const job = await get<IndexJob>(`/index/${second.at(-1)!.data.job_id}`, id);
  expect(job.body).toMatchObject({ state: "succeeded", report: { scip: { files: 2, calls: 1 } } });
  const context = await get<{ callers: { reason: string }[] }>("/context/withTax", id);
  expect(context.body.callers.map(({ reason }) => reason)).toEqual(["exact"]);

  await set("other.scip");
  const third = await waitForIndex(id, second.at(-1)!.id);
  const failed = await get<IndexJob>(`/index/${third.at(-1)!.data.job_id}`, id);
  expect([failed.body.state, failed.body.report?.scip_error]).toEqual([
    "succeeded",
    "other.scip cannot be read in the repository: ENOENT",
  ]);
  expect((await get<GraphStatus>("/status", id)).body.exact.error).toContain("other.scip");
  await set(null);
  await waitForIndex(id, third.at(-1)!.id);
  expect((await get<GraphStatus>("/status", id)).body.exact).toEqual({ files: 2, calls: 1 });
});

describe("an index", () => {
  test("follows a clone by itself, with progress of every phase as events, and is ready", async () => {
    const events = await waitForIndex(project);
    const last = events.at(-1)!;
    expect(last.data).toMatchObject({ state: "succeeded", changed: true, parsed: 3 });
    const job = (await get<IndexJob>(`/index/${last.data.job_id}`)).body;
    expect(job).toMatchObject({ state: "succeeded", percent: 100, cause: "workspace", project_id: project });
    expect(job.phases.map(({ name, state }) => `${name} ${state}`)).toEqual([
      "filesystem_walk done",
      "parsing done",
      "structure done",
      "resolution done",
      "community_detection done",
      "process_discovery done",
    ]);
    expect(job.report).toEqual({ files: 3, skipped: [], skipped_count: 0, failed: [], unread: NOTHING_UNREAD });
    const status = (await get<GraphStatus>("/status")).body;
    expect(status).toMatchObject({ state: "ready", files: 3, dirty: false, languages: { typescript: 3 } });
    expect(status.commit).toBe(shop.git("rev-parse", "HEAD").trim());
  });

  test("indexed again finds nothing changed; forced, it parses everything", async () => {
    const first = await post<IndexJob>("/index", {});
    expect([first.status, first.headers.get("location")]).toEqual([202, at(`/index/${first.body.id}`)]);
    await until(project, ({ kind, data }) => kind === "index_complete" && data.job_id === first.body.id);
    expect((await get<IndexJob>(`/index/${first.body.id}`)).body).toMatchObject({ changed: false, parsed: 0 });
    const forced = await post<IndexJob>("/index", { force: true });
    await until(project, ({ kind, data }) => kind === "index_complete" && data.job_id === forced.body.id);
    expect((await get<IndexJob>(`/index/${forced.body.id}`)).body).toMatchObject({ changed: true, parsed: 3 });
  });

  test("needs sources, a project and a job of that project", async () => {
    const empty = await projectOf("empty");
    const refused = await post("/index", {}, empty);
    expect([refused.status, refused.body]).toMatchObject([409, { code: "no_workspace" }]);
    expect((await get<GraphStatus>("/status", empty)).body.state).toBe("not_indexed");
    const asked = await post("/query", { query: "x" }, empty);
    expect([asked.status, asked.body]).toMatchObject([409, { code: "not_indexed" }]);
    expect((await get("/status", "proj_none")).status).toBe(404);
    const { body: job } = await post<IndexJob>("/index", {});
    expect((await get(`/index/${job.id}`, empty)).status).toBe(404);
  });

  test("runs once for a project: later requests join it; cancelled, it ends and can be made again", async () => {
    const tree = createSourceTree(manyFiles(150));
    trees.push(tree);
    const id = await projectOf("large", tree.root);
    const [running] = await until(id, ({ kind }) => kind === "index_progress");
    const jobId = running!.data.job_id;
    expect((await get<GraphStatus>("/status", id)).body).toMatchObject({ state: "indexing", job_id: jobId });
    const joined = await post<IndexJob>("/index", {}, id);
    expect([joined.status, joined.body.id]).toEqual([202, jobId]);
    expect((await post(`/index/${jobId}/cancel`, {}, id)).status).toBe(202);
    const over = (await waitForIndex(id)).at(-1)!;
    expect(over.data).toMatchObject({ job_id: jobId, state: "cancelled" });
    const job = (await get<IndexJob>(`/index/${jobId}`, id)).body;
    expect(job.state).toBe("cancelled");
    expect(job.phases.some(({ state }) => state === "running")).toBe(false);
    const again = await post(`/index/${jobId}/cancel`, {}, id);
    expect([again.status, again.body]).toMatchObject([409, { code: "job_ended" }]);
    const later = await post<IndexJob>("/index", {}, id);
    expect(later.body.id).not.toBe(jobId);
    const done = await until(id, ({ kind, data }) => kind === "index_complete" && data.job_id === later.body.id);
    expect(done.at(-1)!.data.state).toBe("succeeded");
    expect((await server.request("DELETE", `/v1/projects/${id}`)).status).toBe(204);
  });

  test("cut short by a killed server continues as the same job at the next start", async () => {
    const tree = createSourceTree(manyFiles(150));
    trees.push(tree);
    const id = await projectOf("cut", tree.root);
    const [running] = await until(id, ({ kind }) => kind === "index_progress");
    const jobId = running!.data.job_id;
    await server.stop("SIGKILL");
    server = await startServer({ env: ENV, data: server.data });
    const over = (await waitForIndex(id)).at(-1)!;
    expect(over.data).toMatchObject({ job_id: jobId, state: "succeeded" });
    expect((await server.request("GET", `/v1/jobs/${jobId}`)).body).toMatchObject({ state: "succeeded", attempt: 2 });
    expect((await get<GraphStatus>("/status", id)).body).toMatchObject({ state: "ready", files: 150 });
    expect((await get<GraphStatus>("/status")).body.state).toBe("ready");
  });
});

describe("questions", () => {
  test("query finds by words, with flows, cluster and code", async () => {
    const { status, body } = await post<{ items: (Named & { snippet?: string })[] }>("/query", {
      query: "total of the cart",
      include_code: true,
      labels: ["Method"],
    });
    expect(status).toBe(200);
    expect(body.items[0]?.symbol.name).toBe("total");
    expect(body.items[0]?.snippet).toContain("withTax(");
    expect((await post("/query", { query: "", limit: 0 })).status).toBe(422);
  });

  test("context shows both sides; a name of several gives candidates, a wrong one the near names", async () => {
    const { body } = await get<Record<string, { name: string }[]>>("/context/withTax");
    expect([names(body["callers"]!), names(body["callees"]!)]).toEqual([["total"], ["round"]]);
    const id = encodeURIComponent("Method:src/cart.ts#Cart.add");
    expect((await get<Named>(`/context/${id}`)).body.symbol.name).toBe("add");
    const missing = await get<{ near: string[] }>("/context/withTaxx");
    expect([missing.status, missing.body.near]).toEqual([404, ["withTax"]]);
    const elsewhere = await get("/context/withTax?file_path=src/main.ts");
    expect(elsewhere.status).toBe(404);
  });

  test("impact reaches callers by depth", async () => {
    const { body } = await post<{ depths: { depth: number; label: string; symbols: { name: string }[] }[] }>(
      "/impact",
      { target: "round", direction: "upstream" },
    );
    expect(body.depths.map(({ label, symbols }) => [label, names(symbols)])).toEqual([
      ["will break", ["withTax"]],
      ["likely affected", ["total"]],
      ["may be affected", ["main"]],
    ]);
    expect((await post("/impact", { target: "round", max_depth: 11 })).status).toBe(422);
  });

  test("graph data holds no edge without both ends, and filters", async () => {
    const { body } = await get<{ nodes: { id: string; label: string }[]; edges: { from: string; to: string }[] }>(
      "/graph-data?labels=Function,Method&types=CALLS",
    );
    expect(new Set(body.nodes.map(({ label }) => label))).toEqual(new Set(["Function", "Method"]));
    const ids = new Set(body.nodes.map(({ id }) => id));
    expect(body.edges.length).toBeGreaterThan(2);
    expect(body.edges.filter(({ from, to }) => !ids.has(from) || !ids.has(to))).toEqual([]);
    expect((await get("/graph-data?labels=Nonsense")).status).toBe(422);
  });

  test("communities and processes come in pages that join to the whole", async () => {
    type List = {
      items: { id: string; steps?: { step: number }[]; members?: unknown[] }[];
      next_cursor: string | null;
    };
    for (const path of ["/communities", "/processes"]) {
      const whole = (await get<List>(path)).body.items;
      const joined: List["items"] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page: List = (await get<List>(`${path}?limit=1${cursor ? `&cursor=${cursor}` : ""}`)).body;
        joined.push(...page.items);
        cursor = page.next_cursor;
      }
      expect(joined).toEqual(whole);
    }
    const flows = (await get<List>("/processes?symbol=withTax")).body.items;
    expect(flows.length).toBeGreaterThan(0);
    for (const { steps } of flows) expect(steps!.map(({ step }) => step)).toEqual(steps!.map((_, i) => i + 1));
    expect((await get("/communities?cursor=nonsense")).status).toBe(400);
  });

  test("cypher reads with parameters, cuts at its limit, and passes on the database's message on a wrong query", async () => {
    const query = "MATCH (a)-[:CALLS]->(b) WHERE b.name = $name RETURN a.name, b.start_line";
    const { body } = await post("/cypher", { query, params: { name: "withTax" } });
    expect(body).toMatchObject({ columns: ["a.name", "b.start_line"], rows: [["total", 1]], truncated: false });
    const cut = await post("/cypher", { query: "MATCH (n) RETURN n.name", limit: 2 });
    expect(cut.body).toMatchObject({ truncated: true });
    const wrong = await post<{ detail: string; code: string }>("/cypher", { query: "MATCH (n RETURN n" });
    expect([wrong.status, wrong.body.code]).toEqual([422, "invalid"]);
    expect(wrong.body.detail).toContain("Parser exception");
    const whole = await post<{ rows: { name: string }[][] }>("/cypher", { query: "MATCH (n:Class) RETURN n" });
    expect(whole.body.rows[0]![0]!.name).toBe("Cart");
  });

  test("changes map what is not committed to symbols; a base that is not valid is refused", async () => {
    const { body } = await get<{ files: unknown[] }>("/changes");
    expect(body.files).toEqual([]);
    expect((await get("/changes?base=--output=x")).status).toBe(422);
    expect((await get("/changes?base=nothere")).status).toBe(422);
  });

  test("a deleted index and a damaged one are made again at the next question", async () => {
    const { readFileSync, rmSync, writeFileSync, readdirSync } = await import("node:fs");
    const store = `${server.data}/projects/${project}/graph`;
    rmSync(store, { recursive: true });
    expect((await get<Named>("/context/withTax")).body.symbol.name).toBe("withTax");
    const [generation] = readdirSync(store).filter((name) => /^g\d+$/.test(name));
    const snapshot = `${store}/${generation}/graph.bin`;
    writeFileSync(snapshot, readFileSync(snapshot).fill(0));
    writeFileSync(`${store}/manifest.json`, "{");
    const asked = await post<{ items: Named[] }>("/query", { query: "withTax" });
    expect(asked.body.items[0]!.symbol.name).toBe("withTax");
    const path = await post<{ groups: unknown[] }>("/ask", { question: "path", subject: "Cart.total", to: "round" });
    expect([path.status, path.body.groups.length]).toEqual([200, 1]);
  });

  test("a workspace that changed on disk is stale until it is indexed again", async () => {
    const { writeFileSync } = await import("node:fs");
    const workspace = `${server.data}/projects/${project}/workspace`;
    writeFileSync(`${workspace}/src/new.ts`, "export function brandNew() {}\n");
    expect((await get<GraphStatus>("/status")).body).toMatchObject({ state: "stale", dirty: true });
    const { body: changes } = await get<{ symbols: (Named & { change: string })[] }>("/changes");
    expect(changes.symbols.map(({ symbol, change }) => [symbol.name, change])).toEqual([["brandNew", "added"]]);
    const { body: job } = await post<IndexJob>("/index", {});
    await until(project, ({ kind, data }) => kind === "index_complete" && data.job_id === job.id);
    expect((await get<IndexJob>(`/index/${job.id}`)).body).toMatchObject({ parsed: 1, changed: true });
    expect((await get<Named>("/context/brandNew")).body.symbol.name).toBe("brandNew");
  });
});
