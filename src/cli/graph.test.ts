/** `skep graph …` and `skep mcp`: the code graph without a server, with the same answers as the API. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skep } from "../testing/command.ts";
import { type ScipSample, scipOf } from "../testing/scip-sample.ts";
import { skepCommand, startServer, type TestServer } from "../testing/server.ts";
import { createSourceTree, SHOP, type SourceTree } from "../testing/source-tree.ts";

setDefaultTimeout(300_000);
let tree: SourceTree;
beforeAll(() => {
  tree = createSourceTree(SHOP);
});
afterAll(() => tree.remove());

const graph = (command: string, ...args: string[]) =>
  skep(["graph", command, tree.root, ...args, "--store", tree.store]);
async function json<T = Record<string, unknown>>(command: string, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await graph(command, ...args, "--json");
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as T;
}

describe("skep graph", () => {
  test("asked before there is an index, it says how to make one", async () => {
    const { code, stderr } = await graph("query", "tax");
    expect([code, stderr]).toEqual([1, "skep: There is no index yet. Make one with: skep graph index PATH\n"]);
    expect((await graph("status")).stdout).toBe(`not indexed; index it with: skep graph index ${tree.root}\n`);
    const nowhere = await skep(["graph", "status", "/no/such/folder"]);
    expect([nowhere.code, nowhere.stderr]).toEqual([2, "skep: There is no folder /no/such/folder.\n"]);
  });

  test("index, then every question in words for a person", async () => {
    expect((await graph("index")).stdout).toMatch(/^3 files \(3 parsed\), \d+ nodes, .* in [\d.]+ s\n$/);
    // The command left no work behind that continues.
    expect(readdirSync(join(tree.store, "g1")).sort()).toEqual(["facts-0.bin", "files.bin", "graph.bin", "keys.bin"]);
    expect((await graph("index")).stdout).toBe("3 files, nothing changed\n");
    expect((await graph("status")).stdout).toMatch(/^ready: 3 files, \d+ nodes, \d+ relationships\n$/);
    expect((await graph("query", "tax")).stdout).toContain("Function withTax src/tax.ts:1");
    expect((await graph("context", "withTax")).stdout).toContain("Cart.total src/cart.ts:11 at line 12");
    expect((await graph("impact", "round", "--depth", "1")).stdout).toContain("depth 1, will break (1):");
    expect((await graph("path", "Cart.total", "round")).stdout).toContain("withTax src/tax.ts:1 CALLS at line 12");
    expect((await graph("tests", "round")).stdout).toContain("No test reaches it within 6 calls.");
    expect((await graph("dead-code")).stdout).toContain("Everything is reached by calls, uses or imports.");
    expect((await graph("cycles")).stdout).toContain("No files import each other in a circle.");
    const here = await skep(["graph", "cycles", "--store", tree.store], { cwd: tree.root });
    expect(here.stdout).toContain("No files import each other in a circle.");
    expect((await graph("reads", "TAX_RATE")).stdout).toContain("No file names TAX_RATE");
    expect((await graph("flow", "how", "is", "the", "total", "rounded", "round")).stdout).toContain(
      "symbols that the words name",
    );
    expect((await graph("changes")).stdout).toBe("no uncommitted changes\n");
    const cypher = await graph("cypher", "MATCH (f:Function) RETURN f.name, f.start_line ORDER BY f.name LIMIT 2");
    expect(cypher.stdout).toBe("f.name\tf.start_line\nmain\t3\nround\t5\n");
    const lines = (await graph("export")).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(lines.length).toBeGreaterThan(20);
    expect((await graph("export", "--format", "graphml")).stdout).toMatch(/^<\?xml[\s\S]*<\/graphml>\n$/);
  });

  test("a wrong name, a forbidden query and a wrong use are one line each", async () => {
    const other = await graph("path", "withTax", "withTaxes");
    expect([other.code, other.stderr]).toEqual([1, "skep: There is no symbol withTaxes. Near names: withTax.\n"]);
    const missing = await graph("context", "withTaxes");
    expect([missing.code, missing.stderr]).toEqual([1, "skep: There is no symbol withTaxes. Near names: withTax.\n"]);
    const writing = await graph("cypher", "MATCH (n) DELETE n");
    expect([writing.code, writing.stderr]).toEqual([1, "skep: DELETE is not allowed: queries only read the graph.\n"]);
    const readError = async (query: string) => (await graph("cypher", query)).stderr;
    expect(await readError("MATCH (n:Func) RETURN n")).toMatch(
      /^skep: There is no label or relationship Func\. Labels: Function, Class, .*, Process\. Relationships: CONTAINS, .*, MAY_CALL\. The database says: Binder exception: .*\.\n$/,
    );
    expect(await readError("MATCH (n:CALLS) RETURN n")).toMatch(
      /^skep: There is no label CALLS\. Labels: Function, [^.]*, Process\. The database says: Binder exception: .*\.\n$/,
    );
    expect(await readError("MATCH ()-[r:Function]->() RETURN r")).toMatch(
      /^skep: There is no relationship Function\. Relationships: CONTAINS, [^.]*, MAY_CALL\. The database says: Binder exception: .*\.\n$/,
    );
    expect((await graph("impact", "round", "--depth", "11")).code).toBe(2);
    expect((await graph("cypher", "RETURN 1", "--params", "[1]")).code).toBe(2);
  });

  test("a name that several symbols have is a failure of every question about one; --json gives the candidates", async () => {
    const twice = createSourceTree({ "a.ts": "export function same() {}\n", "b.ts": "export function same() {}\n" });
    const ask = (...args: string[]) => skep(["graph", ...args, "--store", twice.store]);
    await ask("index", twice.root);
    for (const question of ["context", "impact", "tests"]) {
      const { code, stderr } = await ask(question, twice.root, "same");
      expect([question, code, stderr]).toEqual([
        question,
        1,
        expect.stringMatching(/^skep: 2 symbols of that name; .*Function same a\.ts:1.*Function same b\.ts:1.*\n$/),
      ]);
      const { code: done, stdout } = await ask(question, twice.root, "same", "--json");
      expect([question, done, JSON.parse(stdout)]).toMatchObject([question, 0, { candidates: [{}, {}] }]);
    }
    twice.remove();
  });

  test("import-scip takes in what a compiler says, and --forget forgets it", async () => {
    const file = join(tree.store, "index.scip");
    const symbol = "t npm shop 1 tax.ts/withTax().";
    const line = readFileSync(join(tree.root, "src/cart.ts"), "utf8").split("\n")[11] ?? "";
    const start = line.indexOf("withTax");
    const sample: ScipSample = {
      "src/tax.ts": [{ line: 0, start: 16, end: 23, symbol, definition: true }],
      "src/cart.ts": [{ line: 11, start, end: start + 7, symbol }],
    };
    writeFileSync(file, scipOf(sample));
    const scip = (...args: string[]) => skep(["graph", "import-scip", ...args, "--store", tree.store]);
    expect((await scip(file, tree.root)).stdout).toBe("1 call of 2 files is exact now\n");
    expect((await graph("context", "withTax")).stdout).toContain("Cart.total src/cart.ts:11 at line 12 exact");
    writeFileSync(file, "no index");
    const bad = await scip(file, tree.root);
    expect([bad.code, bad.stderr]).toEqual([1, "skep: The SCIP index cannot be used: it is no SCIP index.\n"]);
    const missing = await scip("/no/index.scip", tree.root);
    expect([missing.code, missing.stderr]).toEqual([2, "skep: There is no file /no/index.scip.\n"]);
    expect((await scip()).code).toBe(2);
    const forgotten = await scip("--forget", tree.root);
    expect(forgotten.stdout).toBe("no calls of SCIP indexes any more\n");
    expect((await graph("context", "withTax")).stdout).not.toContain("exact");
  });

  test("on a terminal, an index draws a bar for each phase, in place", async () => {
    const shown = await Bun.spawn(
      [
        "script",
        "-qec",
        skepCommand("graph", "index", tree.root, "--force", "--store", tree.store).join(" "),
        "/dev/null",
      ],
      {
        env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", TERM: "xterm" },
        stdin: "ignore",
        stdout: "pipe",
      },
    );
    const text = await new Response(shown.stdout).text();
    expect(text).toContain("\u001b[6A");
    for (const phase of [
      "filesystem walk",
      "parsing",
      "structure",
      "resolution",
      "community detection",
      "process discovery",
    ])
      expect(text).toMatch(new RegExp(`${phase} +█{24} 100 %`));
  });
});

describe("--json", () => {
  let server: TestServer;
  let path: string;
  beforeAll(async () => {
    server = await startServer({ env: { ALLOW_LOCAL_REPOSITORIES: "true" } });
    const body = { name: "shop", repository: tree.root };
    path = `/v1/projects/${(await server.request<{ id: string }>("POST", "/v1/projects", { body })).body.id}/knowledge-graph`;
    while ((await server.request<{ state: string }>("GET", `${path}/status`)).body.state !== "ready")
      await Bun.sleep(100);
  });
  afterAll(() => server.remove());

  const get = async (suffix: string) => (await server.request("GET", path + suffix)).body;
  const post = async (suffix: string, body: unknown) => (await server.request("POST", path + suffix, { body })).body;

  test("is what the endpoints answer", async () => {
    const plain = ({ indexed_at: _at, duration_ms: _ms, ...rest }: Record<string, unknown>) => rest;
    expect(plain(await json("status"))).toEqual(plain(await get("/status")));
    expect(await json("query", "tax", "--code")).toEqual(await post("/query", { query: "tax", include_code: true }));
    expect(await json("context", "withTax")).toEqual(await get("/context/withTax"));
    expect(await json("impact", "round")).toEqual(await post("/impact", { target: "round" }));
    const path = { question: "path", subject: "Cart.total", to: "round" };
    expect(await json("path", "Cart.total", "round")).toEqual(await post("/ask", path));
    expect(await json("changes")).toEqual(await get("/changes"));
    const query = "MATCH (n:Method) RETURN n ORDER BY n.name";
    expect(plain(await json("cypher", query))).toEqual(plain(await post("/cypher", { query })));
  });

  test("of an index holds its phases and report", async () => {
    const job = await json<{ phases: { state: string }[] }>("index");
    expect(job).toMatchObject({ state: "succeeded", changed: false, report: { files: 3, skipped: [], failed: [] } });
    expect(job.phases.map(({ state }) => state)).toEqual(Array(6).fill("done"));
  });
});

describe("skep mcp", () => {
  /** A session as a client sees it: one request per line, answers by id in any order. */
  async function session<T>(
    work: (ask: (method: string, params?: unknown) => Promise<Answer>) => Promise<T>,
  ): Promise<T> {
    const child = Bun.spawn(skepCommand("mcp", tree.root, "--store", tree.store), {
      env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent" },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    const waiting = new Map<number, (answer: Answer) => void>();
    const reading = (async () => {
      let text = "";
      for await (const chunk of child.stdout) {
        text += new TextDecoder().decode(chunk);
        const lines = text.split("\n");
        text = lines.pop() ?? "";
        for (const line of lines) {
          const answer = JSON.parse(line) as Answer & { id: number };
          waiting.get(answer.id)?.(answer);
        }
      }
    })();
    let id = 0;
    const ask = (method: string, params?: unknown) =>
      new Promise<Answer>((resolve) => {
        waiting.set(++id, resolve);
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
        child.stdin.flush();
      });
    try {
      return await work(ask);
    } finally {
      child.stdin.end();
      expect(await child.exited).toBe(0);
      await reading;
    }
  }
  interface Answer {
    result?: Record<string, unknown>;
    error?: { code: number };
  }
  const textOf = ({ result }: Answer) => (result?.["content"] as { text: string }[] | undefined)?.[0]?.text;

  test("a client greets, lists five read-only tools, calls them, and sees an edit at the next call", async () => {
    await session(async (ask) => {
      const hello = await ask("initialize", {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "t", version: "1" },
      });
      expect(hello.result).toMatchObject({
        protocolVersion: "2025-06-18",
        serverInfo: { name: "skep" },
        capabilities: { tools: {} },
      });
      const { tools } = (await ask("tools/list")).result as { tools: { name: string; annotations: unknown }[] };
      expect(tools.map(({ name }) => name)).toEqual(
        ["query", "context", "impact", "ask", "changes"].map((name) => `code_graph_${name}`),
      );
      expect(JSON.stringify(tools).length).toBeLessThan(4_000);
      const call = (name: string, args: unknown) => ask("tools/call", { name, arguments: args });
      expect(textOf(await call("code_graph_context", { symbol_name: "withTax" }))).toContain("Cart.total");
      const [one, two] = await Promise.all([call("code_graph_query", { query: "tax" }), ask("ping")]);
      expect([textOf(one)?.includes("withTax"), two.result]).toEqual([true, {}]);
      const wrong = await call("code_graph_impact", { target: 7 });
      expect([wrong.result?.["isError"], textOf(wrong)]).toEqual([true, "Target must be a text."]);
      expect((await ask("nonsense")).error?.code).toBe(-32601);
      tree.write("src/late.ts", "export function lately() {}\n");
      let said = "";
      while (!said.includes("src/late.ts:1")) said = textOf(await call("code_graph_query", { query: "lately" })) ?? "";
      expect(textOf(await call("code_graph_changes", {}))).toContain("added lately src/late.ts:1");
    });
  });
});
