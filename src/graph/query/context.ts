/** Everything about one symbol: its callers, its callees, and the groups it belongs to. */
import { keysOf, recordOf } from "../../core/typed-keys.ts";
import type { CodeGraph } from "../code-graph.ts";
import type { EdgeType } from "../model.ts";
import type { Window, Windowed } from "./groups.ts";
import {
  type CommunityView,
  communityOf,
  communityView,
  edgesOf,
  findSymbols,
  type ProcessView,
  processesOf,
  processView,
  type RelatedSymbol,
  relatedBy,
  type SymbolView,
  toUnclear,
  type Unclear,
} from "./symbols.ts";

/** The lists of neighbors: the direction and the types of the edges that each follows. */
const RELATIONS = {
  callers: ["in", ["CALLS"]],
  callees: ["out", ["CALLS"]],
  uses: ["out", ["USES"]],
  used_by: ["in", ["USES"]],
  imports: ["out", ["IMPORTS"]],
  imported_by: ["in", ["IMPORTS"]],
  extends: ["out", ["EXTENDS", "IMPLEMENTS"]],
  implemented_by: ["in", ["EXTENDS", "IMPLEMENTS"]],
  members: ["out", ["CONTAINS"]],
} as const satisfies Record<string, readonly ["in" | "out", readonly EdgeType[]]>;
export type Relation = keyof typeof RELATIONS;
const RELATION_NAMES = keysOf(RELATIONS);

/** By default, each list shows at most this many neighbors. */
const RELATED_SHOWN = 100;
const MAX_PROCESSES = 50;

export type SymbolContext = Record<Relation, RelatedSymbol[]> & {
  symbol: SymbolView;
  processes: ProcessView[];
  /** How many entries each list has in all. */
  totals: Record<Relation | "processes", number>;
  community: CommunityView | null;
  /** How many lines of the symbol's file the parser could not read (`lines` of `of`); null if it read all of them. */
  unread: { lines: number; of: number } | null;
  /** The symbol's source, or that of its implementation if that is separate; "" if the file cannot be read. */
  code: string;
};

export type ContextAnswer = { found: "one"; context: SymbolContext } | Unclear;
export type RelatedAnswer = { found: "one"; related: Windowed<RelatedSymbol> } | Unclear;

const MAX_CODE_LINES = 200;

/**
 * @param options `limit`: the most neighbors in each list
 * @param readLines source lines of a file, both ends inclusive and counted from 1; "" if it cannot be read
 * @param unread what the parser could not read of a file
 */
export function contextOf(
  graph: CodeGraph,
  text: string,
  options: { filePath?: string | undefined; limit?: number | undefined },
  readLines: (path: string, from: number, to: number) => string,
  unread?: (path: string) => SymbolContext["unread"],
): ContextAnswer {
  const rows = rowsNamed(graph, text, options.filePath);
  if (rows.length !== 1) return toUnclear(graph, text, rows);
  const row = rows[0]!;
  const symbol = graph.node(row);
  const community = communityOf(graph, row);
  const processes = processesOf(graph, row);
  const edges = recordOf(RELATION_NAMES, (relation) => relationEdges(graph, row, relation));
  const lists = recordOf(RELATION_NAMES, (relation) =>
    edges[relation].slice(0, options.limit ?? RELATED_SHOWN).map((edge) => toNeighbour(graph, edge, relation)),
  );
  const totals = { processes: processes.length, ...recordOf(RELATION_NAMES, (relation) => edges[relation].length) };
  const body = symbol.implementation ?? symbol;
  const path = symbol.label === "File" ? symbol.qualified_name : body.file_path;
  const lastLine = Math.min(body.end_line, body.start_line + MAX_CODE_LINES - 1);
  return {
    found: "one",
    context: {
      symbol,
      ...lists,
      processes: processes.slice(0, MAX_PROCESSES).map((index) => processView(graph, index, row)),
      totals,
      community: community < 0 ? null : communityView(graph, community),
      unread: unread?.(path) ?? null,
      code: path === "" ? "" : readLines(path, body.start_line, lastLine),
    },
  };
}

/** A part of one list of neighbors, in the same order as in the context. */
export function relatedOf(
  graph: CodeGraph,
  text: string,
  relation: Relation,
  { start, count }: Window,
  filePath?: string,
): RelatedAnswer {
  const rows = rowsNamed(graph, text, filePath);
  if (rows.length !== 1) return toUnclear(graph, text, rows);
  const edges = relationEdges(graph, rows[0]!, relation);
  const items = edges.slice(start, start + count).map((edge) => toNeighbour(graph, edge, relation));
  return { found: "one", related: { items, next: start + count < edges.length ? start + count : null } };
}

function relationEdges(graph: CodeGraph, row: number, relation: Relation): number[] {
  const label = graph.label(row);
  if (relation === "members" && (label === "File" || label === "Folder")) return [];
  if (relation === "callers") return callersOf(graph, row);
  const [direction, types] = RELATIONS[relation];
  const edges = edgesOf(graph, row, direction, types);
  // The importing file is in the list already, with the line of its import.
  if (relation !== "imported_by") return edges;
  return edges.filter((edge) => graph.label(graph.edges.from[edge]!) !== "Import");
}

const toNeighbour = (graph: CodeGraph, edge: number, relation: Relation): RelatedSymbol =>
  relatedBy(graph, edge, RELATIONS[relation][0]);

/** The callers of a symbol. A call of a class counts as a call of its constructor. */
function callersOf(graph: CodeGraph, row: number): number[] {
  const callers = edgesOf(graph, row, "in", ["CALLS"]);
  const name = graph.nodes.name.get(row)!;
  if (graph.label(row) !== "Method" || (name !== "constructor" && name !== "__init__" && name !== "__construct"))
    return callers;
  const [holding] = edgesOf(graph, row, "in", ["CONTAINS"]);
  if (holding === undefined) return callers;
  return [...callers, ...edgesOf(graph, graph.edges.from[holding]!, "in", ["CALLS"])];
}

/** The rows that a text names. If definitions are among them, files and folders are left out. */
function rowsNamed(graph: CodeGraph, text: string, filePath: string | undefined): number[] {
  const rows = findSymbols(graph, text, filePath);
  const defined = rows.filter((row) => graph.label(row) !== "File" && graph.label(row) !== "Folder");
  return defined.length > 0 ? defined : rows;
}
