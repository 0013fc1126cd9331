/** What a change of a symbol affects, by distance. */
import type { CodeGraph } from "../code-graph.ts";
import { CONFIDENCE, EDGE_TYPES, type EdgeType, REASONS } from "../model.ts";
import { isTestPath } from "../test-paths.ts";
import {
  type CommunityView,
  communityOf,
  communityView,
  findSymbols,
  type ProcessView,
  processesOf,
  processView,
  type SymbolView,
  toUnclear,
  type Unclear,
} from "./symbols.ts";

type Direction = "upstream" | "downstream";
export type Risk = "low" | "medium" | "high" | "critical";

export interface ImpactOptions {
  target: string;
  /** `upstream`: symbols that depend on the target. `downstream`: symbols that the target depends on. */
  direction: Direction;
  /** How far edges are followed, 1–10. */
  maxDepth: number;
  /** Edges with a lower confidence (0–1) are not followed. */
  minConfidence: number;
  filePath?: string | undefined;
}

interface ImpactDepth {
  depth: number;
  label: "will break" | "likely affected" | "may be affected";
  /** How many symbols there are, including those left out. */
  total: number;
  symbols: (SymbolView & { confidence: number; via: EdgeType })[];
}

interface Impact {
  target: SymbolView;
  direction: Direction;
  risk: Risk;
  depths: ImpactDepth[];
  processes: ProcessView[];
  communities: CommunityView[];
  /** Calls of a member with the target's name on values of unknown type. Some of them may call the target. */
  hidden: { total: number; symbols: (SymbolView & { line: number })[] };
  /** Whether symbols were left out because of the limit. */
  truncated: boolean;
  total: number;
}

export type ImpactAnswer = { found: "one"; impact: Impact } | Unclear;

const MAX_SYMBOLS = 1_000;
const FOLLOWED = new Set((["CALLS", "USES", "EXTENDS", "IMPLEMENTS"] as const).map((type) => EDGE_TYPES.indexOf(type)));
const CONTAINS = EDGE_TYPES.indexOf("CONTAINS");

export function impactOf(graph: CodeGraph, options: ImpactOptions): ImpactAnswer {
  const rows = findSymbols(graph, options.target, options.filePath);
  if (rows.length !== 1) return toUnclear(graph, options.target, rows);
  return { found: "one", impact: spread(graph, rows[0]!, options) };
}

function spread(graph: CodeGraph, target: number, options: ImpactOptions): Impact {
  const reached = new Map<number, { depth: number; confidence: number; via: number }>();
  let frontier = startOf(graph, target);
  for (const row of frontier) reached.set(row, { depth: 0, confidence: 1, via: -1 });
  for (let depth = 1; depth <= options.maxDepth && frontier.length > 0; depth++) {
    const next: number[] = [];
    for (const row of frontier) {
      const edges = options.direction === "upstream" ? graph.incoming(row) : graph.outgoing(row);
      for (const edge of edges) {
        if (!FOLLOWED.has(graph.edges.type[edge]!)) continue;
        const confidence = CONFIDENCE[REASONS[graph.edges.reason[edge]!]!];
        if (confidence < options.minConfidence) continue;
        const end = options.direction === "upstream" ? graph.edges.from[edge]! : graph.edges.to[edge]!;
        const other = toDecorated(graph, end);
        if (reached.has(other)) continue;
        reached.set(other, { depth, confidence, via: graph.edges.type[edge]! });
        next.push(other);
      }
    }
    frontier = next;
  }
  return describe(graph, target, options, reached);
}

const MAY_CALL = EDGE_TYPES.indexOf("MAY_CALL");
const UNSURE = REASONS.indexOf("unique_name");
const MAX_HIDDEN = 50;

/** Calls that may reach a target, though no edge says so with certainty. */
function hiddenCalls(graph: CodeGraph, target: number): Impact["hidden"] {
  const edges = startOf(graph, target).flatMap((row) =>
    [...graph.incoming(row)].filter(
      (edge) => graph.edges.type[edge] === MAY_CALL || graph.edges.reason[edge] === UNSURE,
    ),
  );
  const shown = edges.slice(0, MAX_HIDDEN);
  const symbols = shown.map((edge) => ({ ...graph.node(graph.edges.from[edge]!), line: graph.edges.line[edge]! }));
  return { total: edges.length, symbols };
}

/** The symbol that a decorator decorates, as it depends on the decorator. Other rows are returned unchanged. */
function toDecorated(graph: CodeGraph, row: number): number {
  if (graph.label(row) !== "Decorator") return row;
  for (const edge of graph.incoming(row)) if (graph.edges.type[edge] === CONTAINS) return graph.edges.from[edge]!;
  return row;
}

/** The target and, for a type, its members: whoever calls a method depends on the class. */
function startOf(graph: CodeGraph, target: number): number[] {
  const start = [target];
  if (!/^(Class|Struct|Trait|Interface|Enum|Impl)$/.test(graph.label(target))) return start;
  for (const edge of graph.outgoing(target)) if (graph.edges.type[edge] === CONTAINS) start.push(graph.edges.to[edge]!);
  return start;
}

function describe(
  graph: CodeGraph,
  target: number,
  options: ImpactOptions,
  reached: ReadonlyMap<number, { depth: number; confidence: number; via: number }>,
): Impact {
  const depths: ImpactDepth[] = [];
  const processes = new Set<number>();
  const communities = new Set<number>();
  let total = 0;
  let shown = 0;
  let product = 0;
  const tests = new Map<number, boolean>();
  const isTest = (row: number): boolean => {
    const file = graph.nodes.file[row]!;
    const known = tests.get(file) ?? isTestPath(graph.filePath(row));
    tests.set(file, known);
    return known;
  };
  for (const [row, { depth, confidence, via }] of reached) {
    for (const process of processesOf(graph, row)) processes.add(process);
    if (depth === 0) continue;
    total++;
    if (!isTest(row)) product++;
    const community = communityOf(graph, row);
    if (community >= 0) communities.add(community);
    depths[depth - 1] ??= {
      depth,
      label: depth === 1 ? "will break" : depth === 2 ? "likely affected" : "may be affected",
      total: 0,
      symbols: [],
    };
    depths[depth - 1]!.total++;
    if (shown >= MAX_SYMBOLS) continue;
    shown++;
    depths[depth - 1]!.symbols.push({ ...graph.node(row), confidence, via: EDGE_TYPES[via]! });
  }
  return {
    target: graph.node(target),
    direction: options.direction,
    risk: riskOf(depths[0]?.total ?? 0, product, processes.size, communities.size),
    depths: depths.filter((depth) => depth !== undefined),
    processes: [...processes]
      .sort((a, b) => a - b)
      .slice(0, 50)
      .map((index) => processView(graph, index)),
    communities: [...communities]
      .sort((a, b) => a - b)
      .slice(0, 50)
      .map((index) => communityView(graph, index)),
    hidden: options.direction === "upstream" ? hiddenCalls(graph, target) : { total: 0, symbols: [] },
    truncated: shown < total,
    total,
  };
}

/**
 * Rates the risk by how many symbols break at once, how many product symbols are affected, and how many flows and
 * clusters.
 */
export function riskOf(direct: number, product: number, processes: number, communities: number): Risk {
  if (direct >= 30 || product >= 200 || processes >= 20) return "critical";
  if (direct >= 10 || product >= 50 || processes >= 5 || communities >= 8) return "high";
  if (direct >= 3 || product >= 10 || processes >= 1) return "medium";
  return "low";
}
