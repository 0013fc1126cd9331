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
  type Unclear,
  unclear,
} from "./symbols.ts";

/** The lists of neighbours, by the edges that they follow. */
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

/** Neighbours in each list by default. */
const RELATED_SHOWN = 100;
const MAX_PROCESSES = 50;

export type SymbolContext = Record<Relation, RelatedSymbol[]> & {
  symbol: SymbolView;
  processes: ProcessView[];
  /** How many there are of each, shown or not. */
  totals: Record<Relation | "processes", number>;
  community: CommunityView | null;
  /** Lines of its file that the parser could not read, of all; null when it read all of them. */
  unread: { lines: number; of: number } | null;
  /** The symbol's source, that of its implementation where it is declared apart; "" when the file cannot be read. */
  code: string;
};

export type ContextAnswer = { found: "one"; context: SymbolContext } | Unclear;
export type RelatedAnswer = { found: "one"; related: Windowed<RelatedSymbol> } | Unclear;

const MAX_CODE_LINES = 200;

/**
 * @param limit neighbours in each list
 * @param unread what the parser could not read of a file
 * @param readLines source lines of a file (from 1, inclusive), "" when it cannot be read
 */
export function contextOf(
  graph: CodeGraph,
  text: string,
  options: { filePath?: string | undefined; limit?: number | undefined },
  readLines: (path: string, from: number, to: number) => string,
  unread?: (path: string) => SymbolContext["unread"],
): ContextAnswer {
  const rows = rowsNamed(graph, text, options.filePath);
  if (rows.length !== 1) return unclear(graph, text, rows);
  const row = rows[0]!;
  const symbol = graph.node(row);
  const community = communityOf(graph, row);
  const processes = processesOf(graph, row);
  const edges = recordOf(RELATION_NAMES, (relation) => relationEdges(graph, row, relation));
  const lists = recordOf(RELATION_NAMES, (relation) =>
    edges[relation].slice(0, options.limit ?? RELATED_SHOWN).map((edge) => neighbour(graph, edge, relation)),
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

/** A part of one list of neighbours, in the order of the context. */
export function relatedOf(
  graph: CodeGraph,
  text: string,
  relation: Relation,
  { start, count }: Window,
  filePath?: string,
): RelatedAnswer {
  const rows = rowsNamed(graph, text, filePath);
  if (rows.length !== 1) return unclear(graph, text, rows);
  const edges = relationEdges(graph, rows[0]!, relation);
  const items = edges.slice(start, start + count).map((edge) => neighbour(graph, edge, relation));
  return { found: "one", related: { items, next: start + count < edges.length ? start + count : null } };
}

function relationEdges(graph: CodeGraph, row: number, relation: Relation): number[] {
  const label = graph.label(row);
  if (relation === "members" && (label === "File" || label === "Folder")) return [];
  if (relation === "callers") return callersOf(graph, row);
  const [direction, types] = RELATIONS[relation];
  const edges = edgesOf(graph, row, direction, types);
  // The file is in the list, with the line of its import.
  if (relation !== "imported_by") return edges;
  return edges.filter((edge) => graph.label(graph.edges.from[edge]!) !== "Import");
}

const neighbour = (graph: CodeGraph, edge: number, relation: Relation): RelatedSymbol =>
  relatedBy(graph, edge, RELATIONS[relation][0]);

/** A call of a class also calls its constructor. */
function callersOf(graph: CodeGraph, row: number): number[] {
  const callers = edgesOf(graph, row, "in", ["CALLS"]);
  const name = graph.nodes.name.get(row)!;
  if (graph.label(row) !== "Method" || (name !== "constructor" && name !== "__init__" && name !== "__construct"))
    return callers;
  const [holding] = edgesOf(graph, row, "in", ["CONTAINS"]);
  if (holding === undefined) return callers;
  return [...callers, ...edgesOf(graph, graph.edges.from[holding]!, "in", ["CALLS"])];
}

/** Of several rows with one name, definitions rather than files. */
function rowsNamed(graph: CodeGraph, text: string, filePath: string | undefined): number[] {
  const rows = findSymbols(graph, text, filePath);
  const defined = rows.filter((row) => graph.label(row) !== "File" && graph.label(row) !== "Folder");
  return defined.length > 0 ? defined : rows;
}
