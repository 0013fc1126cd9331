/**
 * The worker makes answers as JSON, which is passed on unparsed. So they must fit the schemas, and stay small for large
 * graphs.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { listOf } from "../../http/list.ts";
import { type Answered, startServer, type TestServer } from "../../testing/server.ts";
import { createSourceTree, type SourceTree } from "../../testing/source-tree.ts";
import { AskAnswer } from "./ask-model.ts";
import * as model from "./model.ts";

setDefaultTimeout(300_000);

const FILES = 30;
const CALLERS_A_FILE = 45;
const CALLERS = FILES * CALLERS_A_FILE;

/** Files with a function that everybody calls, including tests, and with two functions of the same name. */
function hub(): Record<string, string> {
  const files: Record<string, string> = {
    "src/hub.ts":
      "export function hub(): number {\n  return leaf();\n}\nfunction leaf() { return 1; }\nfunction twice() {}\n",
    "src/twice.ts": "export function twice() {}\n",
  };
  for (let file = 0; file < FILES; file++) {
    const caller = (n: number) => `export function caller${file}_${n}() {\n  return hub();\n}\n`;
    const path = file === 0 ? "src/a.test.ts" : `src/f${file}.ts`;
    files[path] =
      `import { hub } from "./hub.ts";\n${Array.from({ length: CALLERS_A_FILE }, (_, n) => caller(n)).join("")}`;
  }
  return files;
}

let server: TestServer;
let tree: SourceTree;
let at: string;
let workspace: string;

beforeAll(async () => {
  tree = createSourceTree(hub());
  server = await startServer({ env: { ALLOW_LOCAL_REPOSITORIES: "true" } });
  const made = await server.request<{ id: string }>("POST", "/v1/projects", {
    body: { name: "hub", repository: tree.root },
  });
  at = `/v1/projects/${made.body.id}/knowledge-graph`;
  workspace = `${server.data}/projects/${made.body.id}/workspace`;
  while ((await get<model.GraphStatus>("/status")).body.state !== "ready") await Bun.sleep(50);
});
afterAll(async () => {
  await server.remove();
  tree.remove();
});

const get = <T>(path: string) => server.request<T>("GET", at + path);
const post = <T>(path: string, body: unknown) => server.request<T>("POST", at + path, { body });
const sizeOf = (answer: Answered) => JSON.stringify(answer.body).length;

interface Symbol {
  id: string;
  name: string;
  file_path: string;
}
type Context = Record<"callers" | "callees", Symbol[]> & { totals: Record<string, number> };

describe("answers that the worker made", () => {
  test("fit the schemas of the API", async () => {
    const answers: [TSchema, Answered<unknown>][] = [
      [model.Context, await get("/context/hub")],
      [model.Context, await get("/context/twice")],
      [listOf(model.Related), await get("/context/hub/callers?limit=3")],
      [model.SearchAnswer, await post("/query", { query: "hub", include_code: true })],
      [model.Impact, await post("/impact", { target: "leaf" })],
      [model.Impact, await post("/impact", { target: "twice" })],
      [AskAnswer, await post("/ask", { question: "path", subject: "caller1_1", to: "leaf" })],
      [AskAnswer, await post("/ask", { question: "tests", subject: "twice" })],
      [AskAnswer, await post("/ask", { question: "dead_code" })],
      [AskAnswer, await post("/ask", { question: "reads", subject: "HOME" })],
      [model.Changes, await get("/changes")],
      [model.GraphData, await get("/graph-data")],
      [model.GraphColumns, await get("/graph-data?format=columns")],
      [model.GraphColumns, await get("/graph-data?format=columns&focus=hub&depth=2")],
      [listOf(model.Community), await get("/communities?limit=2")],
      [listOf(model.Process), await get("/processes?limit=2")],
      [model.CypherAnswer, await post("/cypher", { query: "MATCH (n:File) RETURN n LIMIT 2" })],
    ];
    for (const [schema, { status, headers, body }] of answers) {
      expect(status).toBe(200);
      expect(headers.get("content-type")).toContain("application/json");
      expect([...Value.Errors(schema, body)].slice(0, 3)).toEqual([]);
    }
  });

  test("a symbol that everybody calls is shown in part, product before tests, and counted whole", async () => {
    const answer = await get<Context>("/context/hub");
    expect(answer.body.callers).toHaveLength(model.RELATED_SHOWN);
    expect(answer.body.totals).toMatchObject({ callers: CALLERS, callees: 1, members: 0 });
    expect(answer.body.callers.filter((caller) => caller.file_path === "src/a.test.ts")).toEqual([]);
    expect(sizeOf(answer)).toBeLessThan(100_000);
    const more = (await get<Context>("/context/hub?limit=5000")).body;
    expect(more.callers).toHaveLength(model.MAX_RELATED);
    expect((await get<Context>("/context/hub?limit=0")).body.callers).toEqual([]);
  });

  test("a list of neighbours comes whole in pages, in the order of the context", async () => {
    type List = { items: Symbol[]; next_cursor: string | null };
    const joined: Symbol[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: List = (await get<List>(`/context/hub/callers?limit=200${cursor ? `&cursor=${cursor}` : ""}`)).body;
      expect(page.items.length).toBeLessThanOrEqual(200);
      joined.push(...page.items);
      cursor = page.next_cursor;
    }
    expect(new Set(joined.map(({ id }) => id)).size).toBe(CALLERS);
    const shown = (await get<Context>("/context/hub?limit=1000")).body.callers;
    expect(joined.slice(0, shown.length)).toEqual(shown);
    expect((await get("/context/hub/friends")).status).toBe(422);
    expect((await get("/context/twice/callers")).status).toBe(422);
    const missing = await get<{ near: string[] }>("/context/hubb/callers");
    expect([missing.status, missing.body.near]).toEqual([404, ["hub"]]);
  });

  test("an impact beyond its bound counts what it does not show", async () => {
    type Impact = { truncated: boolean; total: number; depths: { total: number; symbols: unknown[] }[] };
    const answer = await post<Impact>("/impact", { target: "hub" });
    const { truncated, total, depths } = answer.body;
    expect([truncated, total, depths[0]!.total, depths[0]!.symbols.length]).toEqual([true, CALLERS, CALLERS, 1_000]);
    expect(sizeOf(answer)).toBeLessThan(600_000);
  });

  test("one of several pieces is whole", async () => {
    const answer = await get<{ nodes: unknown[]; edges: { to: string }[] }>("/graph-data?limit=20000");
    expect(sizeOf(answer)).toBeGreaterThan(3 * 128 * 1024);
    expect(answer.body.edges.filter(({ to }) => to === "Function:src/hub.ts#hub").length).toBeGreaterThan(CALLERS);
  });

  test("a map holds at most 2,000 symbols of all clusters, each in its cluster's disc, in a fraction of the rows' bytes", async () => {
    type Columns = Static<typeof model.GraphColumns>;
    const answer = await get<Columns>("/graph-data?format=columns&limit=20000");
    const { nodes, communities, total, truncated, edges } = answer.body;
    expect([nodes.id.length, truncated]).toEqual([Math.min(total, 2_000), total > 2_000]);
    expect(new Set(nodes.community).size).toBe(communities.id.length);
    for (const [at, place] of nodes.community.entries())
      expect(
        Math.hypot(nodes.x[at]! - communities.x[place]!, nodes.y[at]! - communities.y[place]!),
      ).toBeLessThanOrEqual(communities.r[place]!);
    expect(Math.max(...edges.from, ...edges.to)).toBeLessThan(nodes.id.length);
    // A symbol that calls nothing and is called by nothing is on the map as well.
    const clusterOf = (name: string) =>
      nodes.name.flatMap((one, node) => (one === name ? [communities.id[nodes.community[node]!]] : []));
    expect([clusterOf("twice"), clusterOf("hub")]).toEqual([["none", "none"], [expect.stringMatching(/^Community:/)]]);
    expect([communities.id.at(-1), communities.label.at(-1), communities.symbol_count.at(-1)]).toEqual([
      "none",
      "In no cluster",
      2,
    ]);
    const rows = await get("/graph-data?limit=2000");
    expect(sizeOf(answer)).toBeLessThan(sizeOf(rows) / 4);
    const few = (await get<Columns>("/graph-data?format=columns&limit=10&labels=Function")).body;
    expect([few.nodes.id.length <= 10, few.nodes.label.every((at) => few.labels[at] === "Function")]).toEqual([
      true,
      true,
    ]);
  });

  test("a neighbourhood says how many steps each is away, and in which direction", async () => {
    type Columns = Static<typeof model.GraphColumns>;
    const { nodes, total, truncated } = (await get<Columns>("/graph-data?format=columns&focus=hub&limit=101")).body;
    const leaf = nodes.name.indexOf("leaf");
    expect([nodes.hops[nodes.name.indexOf("hub")], nodes.hops[leaf]]).toEqual([0, 1]);
    expect(nodes.hops.filter((hop) => hop === -1)).toHaveLength(50);
    // The total includes the files that import it, and their imports.
    expect([total, truncated]).toEqual([CALLERS + 2 * FILES + 2, true]);
    const far = (await get<Columns>("/graph-data?format=columns&focus=leaf&depth=2&limit=200")).body.nodes;
    expect(new Set(far.hops)).toEqual(new Set([0, -1, -2]));
    expect((await get("/graph-data?format=columns&focus=twice")).status).toBe(422);
    expect((await get("/graph-data?format=columns&focus=nothing")).status).toBe(404);
    expect((await get("/graph-data?focus=hub")).status).toBe(422);
    expect((await get("/graph-data?format=columns&focus=hub&depth=9")).status).toBe(422);
  });

  test("a client that has the graph of this index gets 304", async () => {
    const { headers } = await get("/graph-data?format=columns");
    const etag = headers.get("etag")!;
    // The ETag is weak when the answer was compressed.
    expect(etag).toMatch(/^(W\/)?"\w+\.\d+"$/);
    const again = (tag: string) =>
      fetch(`${server.url}${at}/graph-data?format=columns`, { headers: { "If-None-Match": tag } });
    expect([(await again(etag)).status, (await again('"other"')).status]).toEqual([304, 200]);
  });
});

test("a question asked just after an index has ended is answered from the new graph, while before the old one answers", async () => {
  await get("/context/hub");
  writeFileSync(`${workspace}/src/added.ts`, 'import { hub } from "./hub.ts";\nexport const added = () => hub();\n');
  const { body: job } = await post<model.IndexJob>("/index", {});
  const seen: number[] = [];
  for (let ended = false; !ended; ) {
    ended = (await get<model.IndexJob>(`/index/${job.id}`)).body.finished_at !== null;
    seen.push((await get<Context>("/context/hub?limit=0")).body.totals["callers"]!);
  }
  expect(seen.at(-1)).toBe(CALLERS + 1);
  expect(new Set(seen.slice(0, -1))).toContain(CALLERS);
});
