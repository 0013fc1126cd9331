/**
 * How true the graph's CALLS are: recall and precision against the TypeScript compiler's own answer.
 *
 *   bun scripts/bench-truth.ts PATH [--misses N] [--false N] [--json] [--modules DIR]
 *
 * A call counts when the compiler resolves it to something declared in the repository that is a node of the graph. An
 * edge counts as false when the compiler resolves the call elsewhere; calls the compiler itself cannot resolve are
 * reported apart ("unjudged"). `new C` is right for the class and for its constructor.
 */
import { join, resolve } from "node:path";
import type { CodeGraph } from "../src/graph/code-graph.ts";
import { indexInMemory } from "../src/graph/index/index-memory.ts";
import { createProgram } from "./truth-program.ts";
import { judge, type Verdicts } from "./truth-verdicts.ts";

interface Options {
  root: string;
  misses: number;
  falseEdges: number;
  json: boolean;
  /** Where packages that the checkout imports and lacks are looked for. */
  modules: string;
}

function parseOptions(argv: string[]): Options {
  const value = (flag: string, fallback: number) => {
    const at = argv.indexOf(flag);
    return at < 0 ? fallback : Number(argv[at + 1]);
  };
  const root = argv.find((arg, i) => !arg.startsWith("--") && !/^--(misses|false|modules)$/.test(argv[i - 1] ?? ""));
  if (!root) throw new Error("usage: bench-truth PATH [--misses N] [--false N] [--json] [--modules DIR]");
  return {
    root: resolve(root),
    misses: value("--misses", 30),
    falseEdges: value("--false", 30),
    json: argv.includes("--json"),
    modules: argv.includes("--modules")
      ? resolve(argv[argv.indexOf("--modules") + 1]!)
      : join(import.meta.dir, "../node_modules"),
  };
}

/** The class a constructor belongs to: both stand for `new`. */
function normal(graph: CodeGraph, row: number): number {
  if (graph.nodes.name[row] !== "constructor") return row;
  for (const edge of graph.incoming(row)) if (graph.edge(edge).type === "CONTAINS") return graph.edges.from[edge]!;
  return row;
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  const graph = await indexInMemory(options.root);
  const paths = new Set<string>();
  for (let row = 0; row < graph.nodeCount && graph.label(row) === "File"; row++) {
    const path = graph.nodes.qualified[row]!;
    if (/\.([mc]?tsx?|[mc]?jsx?)$/.test(path)) paths.add(path);
  }
  const started = performance.now();
  const program = createProgram(
    options.root,
    [...paths].map((path) => join(options.root, path)),
    options.modules,
  );
  const verdicts = judge(program, options.root, paths, graph);
  const compilerMs = performance.now() - started;
  const ours = new Map<string, Map<number, string>>();
  for (let edge = 0; edge < graph.edgeCount; edge++) {
    const { type, line, reason } = graph.edge(edge);
    const from = graph.edges.from[edge]!;
    const path = graph.filePath(from);
    if (type !== "CALLS" || !paths.has(path)) continue;
    const key = `${path}:${line}`;
    const rows = ours.get(key) ?? new Map<number, string>();
    rows.set(normal(graph, graph.edges.to[edge]!), reason);
    ours.set(key, rows);
  }
  report(options, graph, verdicts, ours, compilerMs);
}

function report(
  options: Options,
  graph: CodeGraph,
  verdicts: Verdicts,
  ours: ReadonlyMap<string, ReadonlyMap<number, string>>,
  compilerMs: number,
): void {
  let expected = 0;
  let found = 0;
  const missed: string[] = [];
  for (const [key, rows] of verdicts.truth) {
    for (const row of new Set([...rows].map((row) => normal(graph, row)))) {
      expected++;
      if (ours.get(key)?.has(row)) found++;
      else missed.push(`${key} -> ${graph.id(row)}`);
    }
  }
  let judged = 0;
  let right = 0;
  const unjudged: string[] = [];
  const wrong: string[] = [];
  const byReason = new Map<string, [number, number]>();
  for (const [key, rows] of ours) {
    const truth = new Set(
      [...(verdicts.truth.get(key) ?? []), ...(verdicts.accepted.get(key) ?? [])].map((row) => normal(graph, row)),
    );
    for (const [row, reason] of rows) {
      if (!truth.has(row) && verdicts.unknown.has(key)) {
        unjudged.push(`${key} -> ${graph.id(row)} (${reason})`);
        continue;
      }
      judged++;
      const counts = byReason.get(reason) ?? [0, 0];
      byReason.set(reason, counts);
      counts[1]++;
      if (truth.has(row)) {
        right++;
        counts[0]++;
      } else wrong.push(`${key} -> ${graph.id(row)} (${reason})`);
    }
  }
  const result = {
    path: options.root,
    expected,
    found,
    recall: found / Math.max(1, expected),
    judged,
    right,
    precision: right / Math.max(1, judged),
    unjudged: unjudged.length,
    sites: verdicts.sites,
    untyped: verdicts.untyped,
    outside: verdicts.outside,
    compiler_ms: Math.round(compilerMs),
    by_reason: Object.fromEntries(byReason),
  };
  if (options.json) {
    console.log(
      JSON.stringify(
        { ...result, missed, wrong, unjudged_edges: unjudged, missing_nodes: verdicts.missingNodes },
        null,
        1,
      ),
    );
    return;
  }
  const sample = (list: string[], count: number) =>
    list.filter((_, i) => i % Math.max(1, Math.floor(list.length / Math.max(1, count))) === 0).slice(0, count);
  console.log(`missed (${missed.length}):\n  ${sample(missed, options.misses).join("\n  ")}`);
  console.log(`false (${wrong.length}):\n  ${sample(wrong, options.falseEdges).join("\n  ")}`);
  console.log(`not nodes (${verdicts.missingNodes.length}):\n  ${sample(verdicts.missingNodes, 10).join("\n  ")}`);
  console.log(JSON.stringify(result, null, 1));
}

if (import.meta.main) {
  await main();
}
