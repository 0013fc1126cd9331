/**
 * The graph's processes seen from outside: the effects of a crash, a hang, too much memory, and the end of the parent.
 */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skepCommand } from "../../testing/server.ts";
import { createSourceTree, manyFiles, SHOP, type SourceTree } from "../../testing/source-tree.ts";
import type { SymbolContext } from "../query/context.ts";
import type { SearchAnswer } from "../query/search.ts";
import { createGraphClient, type GraphClient, type GraphClientLimits, type GraphJson } from "./client.ts";
import type { CypherAnswer } from "./session.ts";

setDefaultTimeout(300_000);

const trees: SourceTree[] = [];
const clients: GraphClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const tree of trees.splice(0)) tree.remove();
});

function treeOf(files: Record<string, string>): SourceTree {
  const tree = createSourceTree(files);
  trees.push(tree);
  return tree;
}

function clientOf(tree: SourceTree, limits: Partial<GraphClientLimits> = {}, command?: string[]) {
  const reasons: string[] = [];
  const client = createGraphClient({
    command: command ?? skepCommand("graph-worker", join(tree.store, "addons")),
    limits,
    onRestart: (reason) => reasons.push(reason),
  });
  clients.push(client);
  return { client, reasons, graph: client.project({ root: tree.root, store: tree.store }) };
}

const COUNT_FILES = "MATCH (n:File) RETURN count(*)";
const PAIRS = "UNWIND range(1, 1000000) AS b RETURN sum(a * b)";

/** A faulty worker: it answers a request by running this statement. */
function badWorker(tree: SourceTree, statement: string): string[] {
  const path = join(tree.root, "..", "bad-worker.ts");
  writeFileSync(path, `process.on("message", (request: { id: number; place: { root: string } }) => { ${statement} });`);
  return [process.execPath, path];
}

async function read<T>(answer: Promise<GraphJson>): Promise<T> {
  return (await new Blob((await answer).pieces).json()) as T;
}

const alive = (pid: number): boolean => existsSync(`/proc/${pid}`);
async function waitForExit(pid: number): Promise<void> {
  while (alive(pid)) await Bun.sleep(20);
}

describe("graph client", () => {
  test("indexes in a process of its own, with progress of every phase, and answers", async () => {
    const { graph, client } = clientOf(treeOf(SHOP));
    const seen = new Set<string>();
    const report = await graph.index({
      force: false,
      progress: (phases) => {
        for (const { name, state } of phases) seen.add(`${name} ${state}`);
      },
    });
    expect(report.changed).toBe(true);
    for (const { name } of report.phases) expect([...seen]).toContain(`${name} done`);
    const answer = await read<SymbolContext>(graph.json.context("withTax"));
    expect(answer.callers.map(({ name }) => name)).toEqual(["total"]);
    expect(client.pids().length).toBeGreaterThan(0);
    const cypher = await read<CypherAnswer>(
      graph.cypher("MATCH (a)-[:CALLS]->(b:Function) RETURN b.name ORDER BY b.name", {}, 10),
    );
    expect(cypher.rows).toEqual([["round"], ["withTax"]]);
    expect(await graph.cypher("CREATE (:File)", {}, 10).catch((error) => error.status)).toBe(422);
    expect(await graph.tool("code_graph_query", { query: "tax" })).toContain("src/tax.ts:1");
  });

  test("a worker killed in the middle of an index is replaced once, and the old graph serves meanwhile", async () => {
    const tree = treeOf(SHOP);
    const { graph, client, reasons } = clientOf(tree);
    await graph.index({ force: false });
    const before = await graph.status();
    for (const [path, text] of Object.entries(manyFiles(150))) tree.write(path, text);
    const asking = client.pids();
    let killed = 0;
    let served: Promise<SearchAnswer> | undefined;
    const report = await graph.index({
      force: false,
      progress: (phases) => {
        if (killed > 0 || phases[1]?.state !== "running") return;
        killed = client.pids().find((pid) => !asking.includes(pid)) ?? 0;
        process.kill(killed, "SIGKILL");
        served = read<SearchAnswer>(graph.json.query({ query: "Cart", limit: 1, includeCode: false }));
      },
    });
    expect(killed).toBeGreaterThan(0);
    expect(reasons).toEqual(["graph worker ended (SIGKILL)"]);
    expect(report.manifest.files).toBe(153);
    expect(before.files).toBe(3);
    expect((await served)?.items[0]?.symbol.name).toBe("Cart");
  });

  test("an edit of a few files is taken in where questions are answered, and written before a query in Cypher", async () => {
    const tree = treeOf(SHOP);
    const { graph, client } = clientOf(tree, { writeMs: 1e9 });
    await graph.index({ force: false });
    await graph.tool("code_graph_query", { query: "tax" });
    const edit = async (name: string) => {
      tree.write("src/tax.ts", `${SHOP["src/tax.ts"]}\nexport const ${name} = () => withTax(1);\n`);
      expect((await graph.status()).dirty).toBe(true);
      return graph.index({ force: false, looked: true });
    };
    const { generation } = (await edit("gross")).manifest;
    expect(generation).toBe(1);
    expect((await read<SymbolContext>(graph.json.context("gross"))).callees.map(({ name }) => name)).toEqual([
      "withTax",
    ]);
    const named = graph.cypher("MATCH (n:Function) WHERE n.name = 'gross' RETURN n.name", {}, 10);
    expect((await read<CypherAnswer>(named)).rows).toEqual([["gross"]]);
    await edit("net");
    // The process dies with edits that it did not write. The next look at the files finds them again.
    for (const pid of client.pids()) process.kill(pid, "SIGKILL");
    while (client.pids().length > 0) await Bun.sleep(5);
    expect((await graph.status()).dirty).toBe(true);
    await graph.index({ force: false, looked: true });
    expect((await read<SymbolContext>(graph.json.context("net"))).callees.map(({ name }) => name)).toEqual(["withTax"]);
  });

  test("an index that was cancelled has ended when that is said: what is removed then, it does not make again", async () => {
    const tree = treeOf(manyFiles(60));
    const { graph, client } = clientOf(tree);
    const cancel = new AbortController();
    let pids: number[] = [];
    const index = graph.index({
      force: false,
      signal: cancel.signal,
      progress(phases) {
        if (phases[1]?.state !== "running" || cancel.signal.aborted) return;
        pids = client.pids();
        cancel.abort(new Error("no longer wanted"));
      },
    });
    expect(await index.catch((error: Error) => error.message)).toBe("no longer wanted");
    expect(pids.filter(alive)).toEqual([]);
    expect(pids.length).toBe(1);
  });

  test("a worker that dies twice fails the job as unavailable, and the old graph still answers", async () => {
    const tree = treeOf(SHOP);
    const good = clientOf(tree);
    await good.graph.index({ force: false });
    const bad = clientOf(tree, {}, badWorker(tree, "process.exit(3)"));
    const failure = await bad.graph.index({ force: true }).catch((error) => error);
    expect([failure.status, failure.code]).toEqual([503, "graph_unavailable"]);
    expect(bad.reasons).toEqual(["graph worker ended (3)", "graph worker ended (3)"]);
    expect((await good.graph.status()).state).toBe("ready");
  });

  test("a worker that hangs is killed and asked once more", async () => {
    const tree = treeOf(SHOP);
    const { graph, reasons } = clientOf(tree, { questionTimeoutMs: 150 }, badWorker(tree, "for (;;);"));
    expect(await graph.status().catch((error) => error.code)).toBe("graph_unavailable");
    expect(reasons).toEqual(Array(2).fill("graph worker did not answer status in time"));
  });

  test("a worker that grows over its bound is killed and asked once more", async () => {
    const tree = treeOf(SHOP);
    const grow = "const kept = []; setInterval(() => kept.push(new Uint8Array(8e6).fill(1)), 5);";
    const { graph, reasons } = clientOf(tree, { memoryBytes: 200e6, idleMs: 100 }, badWorker(tree, grow));
    expect(await graph.status().catch((error) => error.code)).toBe("graph_unavailable");
    expect(reasons).toEqual(Array(2).fill("graph worker over its memory bound"));
  });

  test("a query that never ends is killed at its limit; questions, and queries of other projects, do not wait", async () => {
    const [slow, other] = [treeOf(SHOP), treeOf(SHOP)];
    /** Asks all three at once. @returns the answers, and whether the endless query failed last */
    async function askAll(queryTimeoutMs: number) {
      const { graph, client, reasons } = clientOf(slow, { queryTimeoutMs, questionTimeoutMs: 240_000 });
      const another = client.project({ root: other.root, store: other.store });
      await graph.index({ force: false });
      await another.index({ force: false });
      let isOver = false;
      const endless = graph
        .cypher(`UNWIND range(1, 1000000) AS a ${PAIRS}`, {}, 1)
        .catch((error) => error)
        .finally(() => {
          isOver = true;
        });
      const question = graph.json.context("withTax");
      const rows = await read<CypherAnswer>(another.cypher(COUNT_FILES, {}, 1)).catch((error) => error);
      const context = await read<SymbolContext>(question);
      const isFirst = !isOver;
      return { graph, reasons, isFirst, rows: rows.rows, callers: context.callers.length, failure: await endless };
    }
    // The other query has the same limit, and on a busy machine the start of its process may exceed it. Then the limit
    // is raised, but stays below 10 s, after which the database stops a query by itself. If the others had to wait, no
    // limit would do.
    let answer = await askAll(2_000);
    for (let tries = 1; tries < 20 && !(answer.isFirst && answer.rows); tries++)
      answer = await askAll(tries < 3 ? 4_000 : 8_000);
    const { graph, reasons, failure } = answer;
    expect([answer.isFirst, answer.rows, answer.callers]).toEqual([true, [[3]], 1]);
    expect([failure.status, failure.code, failure.detail]).toEqual([
      422,
      "invalid",
      "The query takes too long: ask for less, or start from fewer nodes.",
    ]);
    expect([...new Set(reasons)]).toEqual(["graph worker did not answer cypher in time"]);
    while ((await read<CypherAnswer>(graph.cypher(COUNT_FILES, {}, 1)).catch(() => undefined))?.rows[0]?.[0] !== 3);
  });

  test("a query that fills the memory is killed before the machine feels it, and the next is answered", async () => {
    const { graph, reasons } = clientOf(treeOf(SHOP), { queryMemoryBytes: 400e6 });
    await graph.index({ force: false });
    const failure = await graph.cypher("RETURN size(range(1, 100000000))", {}, 1).catch((error) => error);
    expect([failure.status, failure.detail]).toEqual([422, expect.stringContaining("too much memory")]);
    expect(reasons).toEqual(["graph worker over its memory bound"]);
    expect((await read<CypherAnswer>(graph.cypher(COUNT_FILES, {}, 1))).rows).toEqual([[3]]);
  });

  test("a query that ends a fresh process is refused, and not tried again", async () => {
    const tree = treeOf(SHOP);
    const script = `if (request.operation === "prepareCypher") process.send({ id: request.id, kind: "value" }); else process.exit(3);`;
    const { graph, reasons } = clientOf(tree, {}, badWorker(tree, script));
    const failure = await graph.cypher(COUNT_FILES, {}, 1).catch((error) => error);
    expect([failure.status, failure.detail]).toEqual([422, expect.stringContaining("write it more simply")]);
    expect(reasons).toEqual(["graph worker ended (3)"]);
  });

  test("a process that ended between two queries is replaced, and nobody notices", async () => {
    const { graph, client } = clientOf(treeOf(SHOP));
    await graph.index({ force: false });
    const before = client.pids();
    await graph.cypher(COUNT_FILES, {}, 1);
    for (const pid of client.pids()) if (!before.includes(pid)) process.kill(pid, "SIGKILL");
    expect((await read<CypherAnswer>(graph.cypher(COUNT_FILES, {}, 1))).rows).toEqual([[3]]);
  });

  test("more queries than may wait are turned away", async () => {
    const tree = treeOf(SHOP);
    const { graph } = clientOf(tree, {}, badWorker(tree, ""));
    const asked = Array.from({ length: 70 }, () => graph.cypher(COUNT_FILES, {}, 1).catch((error) => error.code));
    expect(await Promise.all(asked.slice(-5))).toEqual(Array(5).fill("graph_busy"));
  });

  test("a cancelled index stops its process and leaves the old graph", async () => {
    const tree = treeOf(SHOP);
    const { graph, client } = clientOf(tree);
    await graph.index({ force: false });
    for (const [path, text] of Object.entries(manyFiles(150))) tree.write(path, text);
    const before = client.pids();
    const abort = new AbortController();
    let child = 0;
    const failure = await graph
      .index({
        force: true,
        signal: abort.signal,
        progress: () => {
          child ||= client.pids().find((pid) => !before.includes(pid)) ?? 0;
          abort.abort();
        },
      })
      .catch((error) => error);
    expect(failure.name).toBe("AbortError");
    await waitForExit(child);
    expect(await graph.status()).toMatchObject({ state: "stale", files: 3 });
  });

  test("an index of one project does not wait for another's", async () => {
    const [slow, quick] = [treeOf(SHOP), treeOf(SHOP)];
    const report = `process.send({ id: request.id, kind: "value", value: { changed: false } })`;
    const worker = badWorker(slow, `if (request.place.root !== ${JSON.stringify(slow.root)}) ${report};`);
    const { graph, client } = clientOf(slow, {}, worker);
    const waiting = graph.index({ force: false }).catch((error) => error.code);
    const other = client.project({ root: quick.root, store: quick.store });
    expect(await other.index({ force: false })).toMatchObject({ changed: false });
    await client.close();
    expect(await waiting).toBe("graph_unavailable");
  });

  test("an idle worker is stopped, and the next question starts another", async () => {
    const { graph, client } = clientOf(treeOf(SHOP), { idleMs: 50 });
    expect((await graph.status()).state).toBe("not_indexed");
    const [pid] = client.pids();
    await waitForExit(pid!);
    expect((await graph.status()).state).toBe("not_indexed");
  });

  test("the parent's end ends the children, in the middle of an index too", async () => {
    const tree = treeOf(manyFiles(150));
    const script = join(tree.root, "..", "parent.ts");
    const module = join(import.meta.dir, "client.ts");
    const command = JSON.stringify(skepCommand("graph-worker", join(tree.store, "addons")));
    writeFileSync(
      script,
      `import { createGraphClient } from ${JSON.stringify(module)};
       const client = createGraphClient({ command: ${command} });
       const graph = client.project(${JSON.stringify({ root: tree.root, store: tree.store })});
       await graph.status();
       let printed = false;
       await graph.index({ force: false, progress: () => { if (!printed) console.log(client.pids().join(" ")); printed = true; } });`,
    );
    const parent = Bun.spawn([process.execPath, script], { stdout: "pipe" });
    const { value } = await parent.stdout.getReader().read();
    const pids = new TextDecoder().decode(value).trim().split(" ").map(Number);
    expect(pids.length).toBe(2);
    parent.kill("SIGKILL");
    await parent.exited;
    await Promise.all(pids.map(waitForExit));
  });
});
