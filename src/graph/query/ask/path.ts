/** The shortest path from one symbol to another. */
import type { CodeGraph } from "../../code-graph.ts";
import { EDGE_TYPES, type EdgeType } from "../../model.ts";
import type { AskEntry, Groups } from "./ask.ts";

/** A search visits at most this many nodes. */
const MAX_VISITED = 200_000;
const CALLS = typeSet("CALLS");
const WIDER = typeSet("CALLS", "USES", "EXTENDS", "IMPLEMENTS", "CONTAINS");

export function typeSet(...types: EdgeType[]): ReadonlySet<number> {
  return new Set(types.map((type) => EDGE_TYPES.indexOf(type)));
}

/**
 * Finds the shortest path from any of some rows to any of others, breadth first.
 * @param types the types of edges that the path may use
 * @param passes whether the path may lead on from a node
 * @returns the edges in order; undefined if there is no path
 */
export function shortestPath(
  graph: CodeGraph,
  from: readonly number[],
  to: ReadonlySet<number>,
  types: ReadonlySet<number>,
  passes: (row: number) => boolean = () => true,
): number[] | undefined {
  const edgeTo = new Map<number, number>();
  const queue = [...from];
  for (const row of from) edgeTo.set(row, -1);
  for (let at = 0; at < queue.length && edgeTo.size < MAX_VISITED; at++) {
    const row = queue[at]!;
    for (const edge of graph.outgoing(row)) {
      const next = graph.edges.to[edge]!;
      if (!types.has(graph.edges.type[edge]!) || edgeTo.has(next)) continue;
      edgeTo.set(next, edge);
      if (to.has(next)) return edgesBack(graph, edgeTo, next);
      if (passes(next)) queue.push(next);
    }
  }
  return undefined;
}

function edgesBack(graph: CodeGraph, edgeTo: ReadonlyMap<number, number>, end: number): number[] {
  const path: number[] = [];
  for (let edge = edgeTo.get(end) ?? -1; edge >= 0; edge = edgeTo.get(graph.edges.from[edge]!) ?? -1) path.push(edge);
  return path.reverse();
}

/** The steps of a path. The first one has no edge. */
export function stepsOf(graph: CodeGraph, path: readonly number[]): AskEntry[] {
  const [first] = path;
  if (first === undefined) return [];
  const start: AskEntry = { symbol: graph.node(graph.edges.from[first]!) };
  return [
    start,
    ...path.map((edge): AskEntry => {
      const line = graph.edges.line[edge]!;
      const via = EDGE_TYPES[graph.edges.type[edge]!]!;
      return { symbol: graph.node(graph.edges.to[edge]!), via, ...(line > 0 ? { line } : {}) };
    }),
  ];
}

/**
 * Finds a path by calls alone, or else by uses, inheritance and membership too. If there is none, a path back is looked
 * for.
 */
export function findPath(graph: CodeGraph, from: readonly number[], to: readonly number[]): Groups {
  const [start, end] = [new Set(from), new Set(to)];
  if (from.some((row) => end.has(row))) return { summary: "Both are the same symbol.", groups: [] };
  for (const [types, how] of [
    [CALLS, "calls"],
    [WIDER, "calls, uses, inheritance and members"],
  ] as const) {
    const there = shortestPath(graph, from, end, types);
    const path = there ?? shortestPath(graph, to, start, types);
    if (!path) continue;
    const entries = stepsOf(graph, path);
    const direction = there ? "" : "No way leads there, but one leads back: ";
    const summary = `${direction}${path.length} ${path.length === 1 ? "step" : "steps"} by ${how}.`;
    return { summary, groups: [{ title: "path", entries, total: entries.length }] };
  }
  return { summary: "No way leads from one to the other, in either direction.", groups: [] };
}
