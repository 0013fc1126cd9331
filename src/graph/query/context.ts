/** Everything about one symbol: who calls it, whom it calls, where it belongs. */
import type { CodeGraph } from "../code-graph.ts";
import {
  type CommunityView,
  communityOf,
  communityView,
  findSymbols,
  nearNames,
  type ProcessView,
  processesOf,
  processView,
  type RelatedSymbol,
  related,
  type SymbolView,
} from "./symbols.ts";

export interface SymbolContext {
  symbol: SymbolView;
  callers: RelatedSymbol[];
  callees: RelatedSymbol[];
  uses: RelatedSymbol[];
  used_by: RelatedSymbol[];
  imports: RelatedSymbol[];
  imported_by: RelatedSymbol[];
  extends: RelatedSymbol[];
  implemented_by: RelatedSymbol[];
  members: RelatedSymbol[];
  processes: ProcessView[];
  community: CommunityView | null;
  /** The symbol's source; "" when the file cannot be read. */
  code: string;
}

export type ContextAnswer =
  | { found: "one"; context: SymbolContext }
  | { found: "several"; candidates: SymbolView[] }
  | { found: "none"; near: string[] };

const MAX_CANDIDATES = 50;
const MAX_NEAR = 8;
const MAX_CODE_LINES = 200;

/** @param readLines source lines of a file (from 1, inclusive), "" when it cannot be read */
export function contextOf(
  graph: CodeGraph,
  text: string,
  filePath: string | undefined,
  readLines: (path: string, from: number, to: number) => string,
): ContextAnswer {
  const rows = preferDefinitions(graph, findSymbols(graph, text, filePath));
  if (rows.length === 0) return { found: "none", near: nearNames(graph, text, MAX_NEAR) };
  if (rows.length > 1)
    return { found: "several", candidates: rows.slice(0, MAX_CANDIDATES).map((row) => graph.node(row)) };
  const row = rows[0]!;
  const symbol = graph.node(row);
  const community = communityOf(graph, row);
  const path = symbol.label === "File" ? symbol.qualified_name : symbol.file_path;
  return {
    found: "one",
    context: {
      symbol,
      callers: callersOf(graph, row),
      callees: related(graph, row, "out", ["CALLS"]),
      uses: related(graph, row, "out", ["USES"]),
      used_by: related(graph, row, "in", ["USES"]),
      imports: related(graph, row, "out", ["IMPORTS"]),
      imported_by: related(graph, row, "in", ["IMPORTS"]),
      extends: related(graph, row, "out", ["EXTENDS", "IMPLEMENTS"]),
      implemented_by: related(graph, row, "in", ["EXTENDS", "IMPLEMENTS"]),
      members: symbol.label === "File" || symbol.label === "Folder" ? [] : related(graph, row, "out", ["CONTAINS"]),
      processes: processesOf(graph, row).map((index) => processView(graph, index, row)),
      community: community < 0 ? null : communityView(graph, community),
      code:
        path === ""
          ? ""
          : readLines(path, symbol.start_line, Math.min(symbol.end_line, symbol.start_line + MAX_CODE_LINES - 1)),
    },
  };
}

/** Calls of a class reach its constructor too. */
function callersOf(graph: CodeGraph, row: number): RelatedSymbol[] {
  const callers = related(graph, row, "in", ["CALLS"]);
  const name = graph.nodes.name[row]!;
  if (graph.label(row) !== "Method" || (name !== "constructor" && name !== "__init__" && name !== "__construct"))
    return callers;
  const [owner] = related(graph, row, "in", ["CONTAINS"]);
  const ownerRow = owner ? graph.rowOf(owner.id) : -1;
  return ownerRow < 0 ? callers : [...callers, ...related(graph, ownerRow, "in", ["CALLS"])];
}

/** Among several of one name, a definition is meant rather than an import or a file. */
function preferDefinitions(graph: CodeGraph, rows: number[]): number[] {
  const defined = rows.filter(
    (row) => graph.label(row) !== "Import" && graph.label(row) !== "File" && graph.label(row) !== "Folder",
  );
  return defined.length > 0 ? defined : rows;
}
