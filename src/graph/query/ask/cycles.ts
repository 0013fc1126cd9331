/** Files that import each other in a circle. */
import type { CodeGraph } from "../../code-graph.ts";
import { EDGE_TYPES } from "../../model.ts";
import type { Groups } from "./ask.ts";
import { shortestPath, stepsOf, typeSet } from "./path.ts";

const IMPORTS = EDGE_TYPES.indexOf("IMPORTS");
const IMPORT_ONLY = typeSet("IMPORTS");

/** Finds groups of files that reach each other by imports, largest groups first. Each comes with a shortest circle. */
export function findCycles(graph: CodeGraph, folder: string, limit: number): Groups {
  const isFile = (row: number) => graph.label(row) === "File";
  const rings = componentsOf(graph, isFile)
    .filter((files) => files.some((row) => isBelow(graph.nodes.qualified.get(row)!, folder)))
    .sort((a, b) => b.length - a.length || a[0]! - b[0]!);
  const groups = rings.slice(0, limit).map((files) => {
    const inside = new Set(files);
    const circle = shortestCircle(graph, files, inside);
    const entries = stepsOf(graph, circle);
    return { title: `${files.length} files import each other; the shortest circle`, entries, total: entries.length };
  });
  const left = rings.length > groups.length ? ` The ${groups.length} largest are shown.` : "";
  const count =
    rings.length === 0 ? "No files" : rings.length === 1 ? "1 group of files" : `${rings.length} groups of files`;
  return { summary: `${count} import each other in a circle.${left}`, groups };
}

export function isBelow(path: string, folder: string): boolean {
  return folder === "" || path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** A shortest circle is looked for from at most this many files of a group. */
const MAX_STARTS = 50;

function shortestCircle(graph: CodeGraph, files: readonly number[], inside: ReadonlySet<number>): number[] {
  let best: number[] = [];
  for (const file of files.slice(0, MAX_STARTS)) {
    for (const edge of graph.outgoing(file)) {
      const next = graph.edges.to[edge]!;
      if (graph.edges.type[edge] !== IMPORTS || !inside.has(next) || next === file) continue;
      const back = shortestPath(graph, [next], new Set([file]), IMPORT_ONLY, (row) => inside.has(row));
      if (back && (best.length === 0 || back.length + 1 < best.length)) best = [edge, ...back];
    }
    if (best.length === 2) break;
  }
  return best;
}

/** Strongly connected components of more than one row, by Tarjan's algorithm without recursion. */
function componentsOf(graph: CodeGraph, isWanted: (row: number) => boolean): number[][] {
  const order = new Int32Array(graph.nodeCount);
  const low = new Int32Array(graph.nodeCount);
  const onStack = new Uint8Array(graph.nodeCount);
  const stack: number[] = [];
  const found: number[][] = [];
  let count = 0;
  for (let root = 0; root < graph.nodeCount; root++) {
    if (order[root]! > 0 || !isWanted(root)) continue;
    const calls: { row: number; at: number }[] = [{ row: root, at: 0 }];
    while (calls.length > 0) {
      const call = calls.at(-1)!;
      const { row } = call;
      if (call.at === 0) {
        order[row] = low[row] = ++count;
        stack.push(row);
        onStack[row] = 1;
      }
      const next = nextImport(graph, row, call, isWanted);
      if (next >= 0) {
        if (order[next] === 0) calls.push({ row: next, at: 0 });
        else if (onStack[next] === 1) low[row] = Math.min(low[row]!, order[next]!);
        continue;
      }
      calls.pop();
      const outer = calls.at(-1);
      if (outer) low[outer.row] = Math.min(low[outer.row]!, low[row]!);
      if (low[row] !== order[row]) continue;
      const component = stack.splice(stack.lastIndexOf(row));
      for (const one of component) onStack[one] = 0;
      if (component.length > 1) found.push(component.sort((a, b) => a - b));
    }
  }
  return found;
}

/** The file that the next import of a file leads to; -1 if there is none left. `call.at` counts the edges looked at. */
function nextImport(graph: CodeGraph, row: number, call: { at: number }, isWanted: (row: number) => boolean): number {
  const edges = graph.outgoing(row);
  while (call.at < edges.length) {
    const edge = edges[call.at++]!;
    const to = graph.edges.to[edge]!;
    if (graph.edges.type[edge] === IMPORTS && to !== row && isWanted(to)) return to;
  }
  // `at` 0 means that the row was not visited, so it becomes at least 1.
  call.at = Math.max(1, call.at);
  return -1;
}
