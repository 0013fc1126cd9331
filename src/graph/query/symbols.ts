/** Symbols as answers show them, and how to find them by name. */
import { type CodeGraph, endingsOf } from "../code-graph.ts";
import { GraphError } from "../graph-error.ts";
import {
  CONFIDENCE,
  EDGE_TYPES,
  type EdgeType,
  type GraphNode,
  REASONS,
  REFERENCE_LABELS,
  type Reason,
} from "../model.ts";
import { isTestPath } from "../test-paths.ts";
import { nearNames } from "./near-names.ts";

export type SymbolView = GraphNode;

/** A neighbor: the symbol, with the line, confidence and reason of the edge. */
export interface RelatedSymbol extends SymbolView {
  line?: number;
  /** The lines of all such edges, if there is more than one; at most 20. */
  lines?: number[];
  confidence: number;
  reason: Reason;
  via: EdgeType;
}

/** The answer for a name that means several symbols, or none. */
export type Unclear = { found: "several"; candidates: SymbolView[] } | { found: "none"; name: string; near: string[] };

/** @throws GraphError `not_found`, with similar names */
export function candidatesOf(answer: Unclear): { candidates: SymbolView[] } {
  if (answer.found === "several") return { candidates: answer.candidates };
  const near = answer.near.length > 0 ? ` Near names: ${answer.near.join(", ")}.` : "";
  throw new GraphError("not_found", `there is no such symbol.${near}`, { near: answer.near });
}

const MAX_CANDIDATES = 50;
const MAX_NEAR = 8;

/** The answer to a text that names none or several symbols. */
export function toUnclear(graph: CodeGraph, text: string, rows: readonly number[]): Unclear {
  if (rows.length === 0) return { found: "none", name: text, near: nearNames(graph, text, MAX_NEAR) };
  return { found: "several", candidates: rows.slice(0, MAX_CANDIDATES).map((row) => graph.node(row)) };
}

const ANALYSED = new Set(["Community", "Process"]);

/**
 * Rows of the symbols that a text names. The text is an id, a qualified name or the end of one, or a plain name. Only
 * the best matches are returned. Imports and decorators are meant only if no declaration has the name.
 */
export function findSymbols(graph: CodeGraph, text: string, filePath?: string): number[] {
  const wanted = text.trim();
  const byId = graph.rowOf(wanted);
  if (byId >= 0) return [byId];
  const dotted = wanted.replaceAll("::", ".").replaceAll("\\", ".").replace(/\(\)$/, "");
  const last = dotted.slice(dotted.lastIndexOf(".") + 1);
  const found: { row: number; rank: number }[] = [];
  for (const row of rowsEnding(graph, [wanted, dotted], last)) {
    const name = graph.nodes.name.get(row)!;
    const qualified = graph.nodes.qualified.get(row)!;
    if (ANALYSED.has(graph.label(row))) continue;
    if (filePath && !pathsOf(graph, row).some((path) => path === filePath || path.endsWith(`/${filePath}`))) continue;
    const exact = qualified === dotted || qualified === wanted || name === dotted;
    if (!exact && !qualified.endsWith(`.${dotted}`)) continue;
    const declared = REFERENCE_LABELS.has(graph.label(row)) ? 0 : 8;
    found.push({ row, rank: declared + (qualified === wanted ? 4 : 0) + (exact ? 2 : 0) });
  }
  found.sort((a, b) => b.rank - a.rank || graph.incoming(b.row).length - graph.incoming(a.row).length || a.row - b.row);
  const best = found[0]?.rank ?? 0;
  return found.filter((entry) => entry.rank === best).map((entry) => entry.row);
}

/** The paths of the files in which a symbol is declared and implemented. */
function pathsOf(graph: CodeGraph, row: number): string[] {
  const body = graph.implementation(row);
  return [graph.filePath(row), ...(body ? [graph.nodes.qualified.get(body.file)!] : [])];
}

/** Rows whose name is the last part of a text, or whose name or qualified name is one of the texts. */
function rowsEnding(graph: CodeGraph, texts: readonly string[], last: string): Set<number> {
  const rows = new Set(graph.findByName(last));
  for (const text of texts) {
    for (const name of endingsOf(text)) {
      if (name === last) continue;
      for (const row of graph.findByName(name))
        if (name === text || graph.nodes.qualified.get(row) === text) rows.add(row);
    }
  }
  return rows;
}

/**
 * The edges to neighbors along some types, one for each neighbor. Outgoing edges are in the order in which the code has
 * them. Incoming ones are sorted: product code before tests, then by confidence.
 */
export function edgesOf(graph: CodeGraph, row: number, direction: "in" | "out", types: readonly EdgeType[]): number[] {
  const wanted = new Set(types.map((type) => EDGE_TYPES.indexOf(type)));
  const edges = direction === "in" ? graph.incoming(row) : graph.outgoing(row);
  const seen = new Set<number>();
  const found: number[] = [];
  for (const edge of edges) {
    if (!wanted.has(graph.edges.type[edge]!)) continue;
    const other = direction === "in" ? graph.edges.from[edge]! : graph.edges.to[edge]!;
    if (seen.has(other)) continue;
    seen.add(other);
    found.push(edge);
  }
  return direction === "in" ? bestFirst(graph, found) : found;
}

function bestFirst(graph: CodeGraph, incoming: readonly number[]): number[] {
  const ranked = incoming.map((edge) => ({
    edge,
    test: isTestPath(graph.filePath(graph.edges.from[edge]!)) ? 1 : 0,
    trust: CONFIDENCE[REASONS[graph.edges.reason[edge]!]!],
  }));
  ranked.sort((a, b) => a.test - b.test || b.trust - a.trust || a.edge - b.edge);
  return ranked.map(({ edge }) => edge);
}

/** The neighbor at the other end of an edge. */
export function relatedBy(graph: CodeGraph, edge: number, direction: "in" | "out"): RelatedSymbol {
  const other = direction === "in" ? graph.edges.from[edge]! : graph.edges.to[edge]!;
  const reason = REASONS[graph.edges.reason[edge]!]!;
  const line = graph.edges.line[edge]!;
  return {
    ...graph.node(other),
    ...(line > 0 ? { line } : {}),
    ...(line > 0 ? linesOf(graph, edge) : {}),
    confidence: CONFIDENCE[reason],
    reason,
    via: EDGE_TYPES[graph.edges.type[edge]!]!,
  };
}

const MAX_LINES = 20;

/** Lines of all edges of the same type between the same two symbols. */
function linesOf(graph: CodeGraph, edge: number): { lines?: number[] } {
  const { type, from, to, line } = graph.edges;
  const lines = new Set<number>();
  for (const other of graph.outgoing(from[edge]!))
    if (to[other] === to[edge] && type[other] === type[edge] && lines.size < MAX_LINES) lines.add(line[other]!);
  return lines.size > 1 ? { lines: [...lines].sort((a, b) => a - b) } : {};
}

export interface CommunityView {
  id: string;
  label: string;
  cohesion: number;
  symbol_count: number;
}

export interface ProcessView {
  id: string;
  label: string;
  kind: "intra_community" | "cross_community";
  step_count: number;
  entry_id: string;
  terminal_id: string;
  /** The symbol's position in the flow, counted from 1, if a symbol was asked about. */
  step?: number;
}

export function communityView(graph: CodeGraph, index: number): CommunityView {
  const { node, label, cohesion, members } = graph.communities[index]!;
  return { id: graph.id(node), label, cohesion, symbol_count: members.length };
}

export function processView(graph: CodeGraph, index: number, symbol = -1): ProcessView {
  const { node, label, kind, steps } = graph.processes[index]!;
  const step = steps.indexOf(symbol) + 1;
  return {
    id: graph.id(node),
    label,
    kind,
    step_count: steps.length,
    entry_id: graph.id(steps[0]!),
    terminal_id: graph.id(steps.at(-1)!),
    ...(step > 0 ? { step } : {}),
  };
}

/** The index in `graph.communities` of the community that a symbol belongs to; -1 for none. */
export function communityOf(graph: CodeGraph, row: number): number {
  return findGroups(graph, row, "BELONGS_TO", graph.communities)[0] ?? -1;
}

/** The indexes in `graph.processes` of the flows in which a symbol takes part. */
export function processesOf(graph: CodeGraph, row: number): number[] {
  return findGroups(graph, row, "PARTICIPATES_IN", graph.processes);
}

function findGroups(graph: CodeGraph, row: number, type: EdgeType, groups: readonly { node: number }[]): number[] {
  const wanted = EDGE_TYPES.indexOf(type);
  const first = groups[0]?.node ?? 0;
  const found: number[] = [];
  for (const edge of graph.outgoing(row))
    if (graph.edges.type[edge] === wanted) found.push(graph.edges.to[edge]! - first);
  return found;
}
