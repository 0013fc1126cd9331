/**
 * The quality of the graph's CALLS edges for a folder of TypeScript and JavaScript, against the TypeScript compiler's
 * own answer. A call counts if the compiler resolves it to something in the folder that is a node. An edge is false if
 * the compiler resolves the call elsewhere, and not judged if the compiler has no answer. For `new C`, both class and
 * constructor are right.
 */
import { join } from "node:path";
import type { CodeGraph } from "../src/graph/code-graph.ts";
import { indexInMemory } from "../src/graph/index/index-memory.ts";
import { createProgram } from "./truth-program.ts";
import { judge, type Verdicts } from "./truth-verdicts.ts";

interface TruthScore {
  path: string;
  /** Calls that the compiler resolves into the folder (`expected`), and those of them that the graph has (`found`). */
  expected: number;
  found: number;
  recall: number;
  /** Edges for which the compiler has an answer (`judged`), and those that match it (`right`). */
  judged: number;
  right: number;
  precision: number;
  unjudged: number;
  sites: number;
  untyped: number;
  outside: number;
  compiler_ms: number;
  /** The numbers of right and judged edges by the rule that found them. */
  by_reason: Record<string, [number, number]>;
}

interface TruthLists {
  missed: string[];
  wrong: string[];
  unjudged_edges: string[];
  missing_nodes: string[];
}

/** Edges by `file:line`: reasons by target row. */
type Found = ReadonlyMap<string, ReadonlyMap<number, string>>;

/** Replaces a constructor by its class, because both stand for `new`. */
function normalize(graph: CodeGraph, row: number): number {
  if (graph.nodes.name.get(row) !== "constructor") return row;
  for (const edge of graph.incoming(row)) if (graph.edge(edge).type === "CONTAINS") return graph.edges.from[edge]!;
  return row;
}

/** @param modules folder of packages that the sources import but do not contain */
export async function truthOf(root: string, modules: string): Promise<{ score: TruthScore; lists: TruthLists }> {
  const graph = await indexInMemory(root);
  const paths = new Set<string>();
  for (let row = 0; row < graph.nodeCount && graph.label(row) === "File"; row++) {
    const path = graph.nodes.qualified.get(row)!;
    if (/\.([mc]?tsx?|[mc]?jsx?)$/.test(path)) paths.add(path);
  }
  const started = performance.now();
  const files = [...paths].map((path) => join(root, path));
  const verdicts = judge(createProgram(root, files, modules), root, paths, graph);
  const compilerMs = Math.round(performance.now() - started);
  const found = callsOf(graph, paths);
  const lists: TruthLists = { missed: [], wrong: [], unjudged_edges: [], missing_nodes: verdicts.missingNodes };
  const { sites, untyped, outside } = verdicts;
  const recall = recallOf(graph, verdicts, found, lists);
  const precision = precisionOf(graph, verdicts, found, lists);
  const score = { path: root, ...recall, ...precision, sites, untyped, outside, compiler_ms: compilerMs };
  return { score, lists };
}

function callsOf(graph: CodeGraph, paths: ReadonlySet<string>): Found {
  const found = new Map<string, Map<number, string>>();
  for (let edge = 0; edge < graph.edgeCount; edge++) {
    const { type, line, reason } = graph.edge(edge);
    const path = graph.filePath(graph.edges.from[edge]!);
    if (type !== "CALLS" || !paths.has(path)) continue;
    const key = `${path}:${line}`;
    const rows = found.get(key) ?? new Map<number, string>();
    rows.set(normalize(graph, graph.edges.to[edge]!), reason);
    found.set(key, rows);
  }
  return found;
}

function recallOf(graph: CodeGraph, verdicts: Verdicts, calls: Found, lists: TruthLists) {
  let [expected, found] = [0, 0];
  for (const [key, rows] of verdicts.truth) {
    for (const row of new Set([...rows].map((row) => normalize(graph, row)))) {
      expected++;
      if (calls.get(key)?.has(row)) found++;
      else lists.missed.push(`${key} -> ${graph.id(row)}`);
    }
  }
  return { expected, found, recall: found / Math.max(1, expected) };
}

function precisionOf(graph: CodeGraph, verdicts: Verdicts, calls: Found, lists: TruthLists) {
  let [judged, right] = [0, 0];
  const byReason = new Map<string, [number, number]>();
  for (const [key, rows] of calls) {
    const given = [...(verdicts.truth.get(key) ?? []), ...(verdicts.accepted.get(key) ?? [])];
    const truth = new Set(given.map((row) => normalize(graph, row)));
    for (const [row, reason] of rows) {
      const edge = `${key} -> ${graph.id(row)} (${reason})`;
      if (!truth.has(row) && verdicts.unknown.has(key)) {
        lists.unjudged_edges.push(edge);
        continue;
      }
      judged++;
      const counts = byReason.get(reason) ?? [0, 0];
      byReason.set(reason, counts);
      counts[1]++;
      if (truth.has(row)) {
        right++;
        counts[0]++;
      } else lists.wrong.push(edge);
    }
  }
  const unjudged = lists.unjudged_edges.length;
  const by_reason = Object.fromEntries(byReason);
  return { judged, right, precision: right / Math.max(1, judged), unjudged, by_reason };
}
