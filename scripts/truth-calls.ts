/**
 * The quality of the graph's CALLS edges, compared with a compiler's answers. `truth-go`, `TruthJava.java` and
 * `truth-c.py` print these answers.
 *
 *   bun scripts/truth-calls.ts PATH CALLS.jsonl [--show N]
 *
 * A line of CALLS is `{path, line, name, to: [{path, line, name}], value?}`. A call counts if it reaches a function or
 * method of the folder. An edge is false if every call of its target's name on its line goes elsewhere. If the compiler
 * has no answer, the edge is not judged. A class and its constructor count as one. `value` means that a variable or
 * field is called, whose target no compiler knows. `oneOf` means that the call may reach any one of the targets.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { readJson } from "../src/core/json-reader.ts";
import type { CodeGraph } from "../src/graph/code-graph.ts";
import { indexInMemory } from "../src/graph/index/index-memory.ts";

interface Place {
  path: string;
  line: number;
  name: string;
}

interface Call extends Place {
  to: Place[];
  value?: boolean;
  oneOf?: boolean;
}

/** The names of a node. A constructor also has its class's name. */
function namesOf(graph: CodeGraph, row: number): string[] {
  const name = graph.nodes.name.get(row) ?? "";
  const outer = (graph.nodes.qualified.get(row) ?? "").split(".").at(-2);
  return outer === undefined ? [name] : [name, ...(isConstructor(name, outer) ? [outer] : [])];
}

const isConstructor = (name: string, outer: string): boolean =>
  name === outer || ["constructor", "__construct", "__init__", "<init>"].includes(name);

/** Whether a node is the declaration at a place. A class counts as its constructor, wherever that is written. */
function isAt(graph: CodeGraph, row: number, place: Place): boolean {
  if (!namesOf(graph, row).includes(place.name)) return false;
  return covers(graph, row, place) || constructorsOf(graph, row, place).some((one) => covers(graph, one, place));
}

function covers(graph: CodeGraph, row: number, place: Place): boolean {
  if (graph.filePath(row) !== place.path) return false;
  const [first, last] = [graph.nodes.startLine[row] ?? 0, graph.nodes.endLine[row] ?? 0];
  return first - 1 <= place.line && place.line <= last;
}

/** The constructors of a class with that name. They may be written inside the class or, as in C++, elsewhere. */
function constructorsOf(graph: CodeGraph, row: number, { name }: Place): number[] {
  const qualified = graph.nodes.qualified.get(row) ?? "";
  if (!["Class", "Struct"].includes(graph.label(row)) || graph.nodes.name.get(row) !== name) return [];
  return graph.findByName(name).filter((one) => graph.nodes.qualified.get(one) === `${qualified}.${name}`);
}

function main(): void {
  const [path, calls, , show] = process.argv.slice(2);
  if (path === undefined || calls === undefined) throw new Error("usage: truth-calls PATH CALLS.jsonl [--show N]");
  void report(resolve(path), calls, Number(show ?? 20));
}

async function report(path: string, calls: string, show: number): Promise<void> {
  const graph = await indexInMemory(path);
  const lines = readFileSync(calls, "utf8").split("\n").filter(Boolean);
  const verdicts = lines.map((line) => readJson(line) as Call);
  const edges = new Map<string, { row: number; reason: string }[]>();
  for (let at = 0; at < graph.edgeCount; at++) {
    const { type, line, reason } = graph.edge(at);
    if (type !== "CALLS") continue;
    const key = `${graph.filePath(graph.edges.from[at] ?? 0)}:${line}`;
    edges.set(key, [...(edges.get(key) ?? []), { row: graph.edges.to[at] ?? 0, reason }]);
  }
  const [missed, wrong]: [string[], string[]] = [[], []];
  const known = new Map<string, Place[]>();
  const answered = new Set<string>();
  for (const { path, line, name, to } of verdicts) {
    const key = `${path}:${line}`;
    answered.add(`${key} ${name}`);
    known.set(key, [...(known.get(key) ?? []), ...to]);
  }
  let [expected, found] = [0, 0];
  const seen = new Set<string>();
  for (const { path, line, to, value, oneOf } of verdicts) {
    const key = `${path}:${line}`;
    for (const places of value || to.length === 0 ? [] : oneOf ? [to] : to.map((place) => [place])) {
      const [place] = places as [Place];
      const text = `${key} -> ${place.path}:${place.line} ${place.name}`;
      if (seen.has(text)) continue;
      seen.add(text);
      expected++;
      if (edges.get(key)?.some(({ row }) => places.some((one) => isAt(graph, row, one)))) found++;
      else missed.push(text);
    }
  }
  let [judged, right] = [0, 0];
  const byReason: Record<string, [number, number]> = {};
  for (const [key, ends] of edges) {
    for (const { row, reason } of ends) {
      const ok = known.get(key)?.some((place) => isAt(graph, row, place)) ?? false;
      if (!ok && !namesOf(graph, row).some((name) => answered.has(`${key} ${name}`))) continue;
      judged++;
      const counts = byReason[reason] ?? [0, 0];
      byReason[reason] = counts;
      counts[1]++;
      if (ok) {
        right++;
        counts[0]++;
      } else wrong.push(`${key} -> ${graph.id(row)} (${reason})`);
    }
  }
  const sample = (list: string[]) => list.filter((_, i) => i % Math.max(1, Math.floor(list.length / show)) === 0);
  console.log(`missed (${missed.length}):\n  ${sample(missed).slice(0, show).join("\n  ")}`);
  console.log(`false (${wrong.length}):\n  ${sample(wrong).slice(0, show).join("\n  ")}`);
  const score = { expected, recall: found / Math.max(1, expected), judged, precision: right / Math.max(1, judged) };
  console.log(JSON.stringify({ ...score, by_reason: byReason }));
}

if (import.meta.main) main();
