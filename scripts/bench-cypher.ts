/**
 * How the graph's database does with a module of its interface: Kuzu, or LadybugDB, which goes on from it.
 *
 *   bun scripts/bench-cypher.ts MODULE STORE
 *
 * MODULE is the folder of an npm package, STORE the folder of an indexed graph (`skep graph index --store STORE`). Each
 * measurement runs in a process of its own. Processor time, as it does not depend on other work as much as the clock.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const QUERIES = [
  "MATCH (n) RETURN count(*)",
  "MATCH (a)-[c:CALLS]->(b) RETURN b.id, count(*) AS n ORDER BY n DESC LIMIT 20",
  "MATCH (a:Function)-[:CALLS*1..3]->(b) WHERE a.exported RETURN count(DISTINCT b)",
  "MATCH (f:File)-[:IMPORTS]->(g:File) RETURN f.name, g.name ORDER BY f.name LIMIT 100",
];
/** Times that each query is asked, and odd queries that are tried. */
const TIMES = 20;
const ODD = 2_000;

/** Odd queries, the same each time: words of the language in an order that a grammar may or may not take. */
function* oddQueries(): Generator<string> {
  const words =
    "MATCH OPTIONAL (n) (a:Function) -[:CALLS]-> -[*1..2]- WHERE a.name = 'x' RETURN n a.name count(*) ORDER BY LIMIT 1 UNWIND [1,2] AS x WITH CASE WHEN THEN END UNION NOT NULL IS { } ( ) [ ] $p 9999999999999999999 -1 '".split(
      " ",
    );
  let state = 7;
  for (let i = 0; i < ODD; i++) {
    const parts: string[] = [];
    for (let n = 0; n < 3 + (i % 12); n++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
      parts.push(words[(state >> 8) % words.length] ?? "");
    }
    yield parts.join(" ");
  }
}

async function measure(module: string, store: string): Promise<void> {
  Bun.plugin({
    name: "database",
    setup: (build) => {
      build.module("kuzu", () => ({ exports: { default: require(resolve(module)) }, loader: "object" }));
    },
  });
  const { writeKuzu, openKuzu } = await import("../src/graph/store/kuzu.ts");
  const { createGraphStore } = await import("../src/graph/store/graph-store.ts");
  const { unpackGraph } = await import("../src/graph/store/snapshot.ts");
  const snapshot = createGraphStore(resolve(store)).snapshot();
  const graph = snapshot && unpackGraph(snapshot);
  if (!graph) throw new Error(`${store} has no graph of this version`);
  const folder = mkdtempSync(join(tmpdir(), "bench-cypher-"));
  const spent = () => process.cpuUsage().user / 1_000 + process.cpuUsage().system / 1_000;
  try {
    const start = spent();
    writeKuzu(join(folder, "graph"), graph);
    const load = spent();
    const reader = openKuzu(join(folder, "graph"), 10_000);
    for (let i = 0; i < TIMES; i++) for (const query of QUERIES) await reader.query(query, {}, 1_000);
    const asked = spent();
    const rss = Math.round(process.resourceUsage().maxRSS / 1024);
    let answered = 0;
    for (const query of oddQueries()) {
      await reader.query(query, { p: 1 }, 10).then(
        () => answered++,
        () => undefined,
      );
    }
    const ms = (from: number, to: number) => Math.round(to - from);
    const counts = { nodes: graph.nodeCount, edges: graph.edgeCount, peak_mb: rss, odd: ODD, odd_answered: answered };
    console.log(JSON.stringify({ load_ms: ms(start, load), query_ms: ms(load, asked) / TIMES, ...counts }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  // The database may crash when it is closed late.
  process.reallyExit?.(0);
}

if (import.meta.main) {
  const [module, store] = process.argv.slice(2);
  if (module === undefined || store === undefined) throw new Error("usage: bench-cypher MODULE STORE");
  await measure(module, store);
}
