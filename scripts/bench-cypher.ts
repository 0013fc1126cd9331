/**
 * Tests the graph's database with a given module for it: Kuzu, or LadybugDB, its successor.
 *
 *   bun scripts/bench-cypher.ts MODULE STORE
 *
 * MODULE is the folder of an npm package. STORE is the folder of an indexed graph (`skep graph index --store STORE`).
 * Each measurement runs in a separate process. Processor time is measured, because it depends less on other load than
 * the clock does. Odd queries run in further processes, so that crashes can be counted.
 */
import { mkdtempSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const QUERIES = [
  "MATCH (n) RETURN count(*)",
  "MATCH (a)-[c:CALLS]->(b) RETURN b.id, count(*) AS n ORDER BY n DESC LIMIT 20",
  "MATCH (a:Function)-[:CALLS*1..3]->(b) WHERE a.exported RETURN count(DISTINCT b)",
  "MATCH (f:File)-[:IMPORTS]->(g:File) RETURN f.name, g.name ORDER BY f.name LIMIT 100",
];
/** How often each query is asked, and how many odd queries of each kind are tried. */
const TIMES = 20;
const ODD = 2_000;

/** Random numbers below a bound, the same in each run. */
function createDice(): (below: number) => number {
  let state = 7;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >> 8) % below;
  };
}

/** Words of the query language in random order, which the grammar may or may not accept. */
function* brokenQueries(): Generator<string> {
  const below = createDice();
  const words =
    "MATCH OPTIONAL (n) (a:Function) -[:CALLS]-> -[*1..2]- WHERE a.name = 'x' RETURN n a.name count(*) ORDER BY LIMIT 1 UNWIND [1,2] AS x WITH CASE WHEN THEN END UNION NOT NULL IS { } ( ) [ ] $p 9999999999999999999 -1 '".split(
      " ",
    );
  for (let i = 0; i < ODD; i++)
    yield Array.from({ length: 3 + (i % 12) }, () => words[below(words.length)] ?? "").join(" ");
}

/** Valid queries that ask for odd things. Those that the grammar accepts also test types and rows. */
function* oddQueries(): Generator<string> {
  const below = createDice();
  const pick = (choices: readonly string[]) => choices[below(choices.length)] ?? "";
  const pickValue = (): string =>
    pick([
      ...["null", "-1", "0", "9223372036854775807", "1e308", "''", "'x'", "true", "[]", "[1,'a']", "{a: 1}", "$p"],
      ...[
        "a.name",
        "b.start_line",
        "a.missing",
        "id(a)",
        "label(b)",
        "r",
        "a",
        "size(a.name)",
        "length(r)",
        "nodes(r)",
      ],
      ...[
        "substring(a.name, -5, 99)",
        "list_extract([1], 99)",
        "cast(a.name AS INT64)",
        "1/0",
        "0.0/0.0",
        "[1] + a.name",
      ],
      ...["regexp_replace(a.name, '(a+)+$', '')", "repeat('x', 1000)", "range(1, 1000)", "date('2026-02-30')", "-(-1)"],
      ...[
        "CASE WHEN a.exported THEN 1 ELSE 'x' END",
        "a.start_line % 0",
        "coalesce(null, a)",
        "collect(a.name)",
        "sum(a)",
      ],
    ]);
  const pickNode = (name: string) =>
    `(${name}${pick(["", ":Function", ":Method", ":File", ":Class:Method", ":Nothing", " {name: 'x'}"])})`;
  const pickEdge = () =>
    `${pick(["-", "<-"])}[r${pick(["", ":CALLS", ":IMPORTS|CALLS", ":CALLS*1..2", ":CALLS*0..1", ":CALLS* SHORTEST 1..3", ":CALLS*3..1"])}]${pick(["-", "->"])}`;
  for (let i = 0; i < ODD; i++) {
    const where = pick([
      "",
      ` WHERE ${pickValue()} ${pick(["=", "<>", "<", "IN", "=~", "CONTAINS", "AND", "+"])} ${pickValue()}`,
    ]);
    const between = pick(["", " WITH a, b, r LIMIT 3", ` UNWIND ${pickValue()} AS u WITH a, b, r, u LIMIT 2`]);
    const order = pick(["", ` ORDER BY ${pickValue()}`, ` ORDER BY a.name DESC SKIP ${pickValue()}`]);
    const limit = ` LIMIT ${pick(["1", "5", "0", "-1", "$p"])}`;
    const results = pick(["", "DISTINCT "]) + [pickValue(), pickValue()].slice(below(2)).join(", ");
    yield `${pick(["", "OPTIONAL "])}MATCH ${pickNode("a")}${pickEdge()}${pickNode("b")}${where}${between} RETURN ${results}${order}${limit}`;
  }
}

/** How many crashes are counted at most, because each one starts a new process. */
const MAX_CRASHES = 50;

/** Asks all odd queries. After a crash, a new process continues after the query that caused it. */
async function askOdd(module: string, database: string) {
  const odd = { asked: 0, answered: 0, crashes: 0, crashed_on: "" };
  const queries = [...brokenQueries(), ...oddQueries()];
  while (odd.asked < queries.length && odd.crashes < MAX_CRASHES) {
    const child = Bun.spawn([process.execPath, import.meta.path, module, "--ask", database, String(odd.asked)], {
      stdout: "pipe",
      stderr: "ignore",
    });
    const marks = await new Response(child.stdout).text();
    odd.asked += marks.length;
    odd.answered += marks.split("+").length - 1;
    if (odd.asked >= queries.length) break;
    odd.crashes++;
    odd.crashed_on ||= queries[odd.asked] ?? "";
    odd.asked++;
  }
  return odd;
}

/** Asks odd queries from the given one on, and writes a character for each: answered or refused. */
async function ask(module: string, database: string, from: number): Promise<void> {
  useModule(module);
  const { openKuzu } = await import("../src/graph/store/kuzu.ts");
  const reader = openKuzu(database, 2_000);
  for (const query of [...brokenQueries(), ...oddQueries()].slice(from)) {
    const mark = await reader.query(query, { p: 1 }, 10).then(
      () => "+",
      () => "-",
    );
    writeSync(1, mark);
  }
  process.reallyExit?.(0);
}

/** Replaces the database module of the graph by this one. */
function useModule(module: string): void {
  Bun.plugin({
    name: "database",
    setup: (build) => {
      build.module("kuzu", () => ({ exports: { default: require(resolve(module)) }, loader: "object" }));
    },
  });
}

async function measure(module: string, store: string): Promise<void> {
  useModule(module);
  const { writeKuzu, openKuzu } = await import("../src/graph/store/kuzu.ts");
  const { createGraphStore } = await import("../src/graph/store/graph-store.ts");
  const { unpackGraph } = await import("../src/graph/store/snapshot.ts");
  const snapshot = createGraphStore(resolve(store)).snapshot();
  const graph = snapshot && unpackGraph(snapshot);
  if (!graph) throw new Error(`${store} has no graph of this version`);
  const folder = mkdtempSync(join(tmpdir(), "bench-cypher-"));
  const readCpuMs = () => process.cpuUsage().user / 1_000 + process.cpuUsage().system / 1_000;
  try {
    const start = readCpuMs();
    writeKuzu(join(folder, "graph"), graph);
    const load = readCpuMs();
    const reader = openKuzu(join(folder, "graph"), 10_000);
    for (let i = 0; i < TIMES; i++) for (const query of QUERIES) await reader.query(query, {}, 1_000);
    const asked = readCpuMs();
    const rss = Math.round(process.resourceUsage().maxRSS / 1024);
    const odd = await askOdd(module, join(folder, "graph"));
    const countMs = (from: number, to: number) => Math.round(to - from);
    const counts = {
      nodes: graph.nodeCount,
      edges: graph.edgeCount,
      peak_mb: rss,
      ...odd,
    };
    console.log(JSON.stringify({ load_ms: countMs(start, load), query_ms: countMs(load, asked) / TIMES, ...counts }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  // The database may crash when it is closed late.
  process.reallyExit?.(0);
}

if (import.meta.main) {
  const [module, store, database, from] = process.argv.slice(2);
  if (module === undefined || store === undefined) throw new Error("usage: bench-cypher MODULE STORE");
  if (store === "--ask") await ask(module, database ?? "", Number(from));
  else await measure(module, store);
}
