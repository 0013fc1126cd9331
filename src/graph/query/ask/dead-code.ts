/** Functions, methods and classes that nothing reaches. */
import type { CodeGraph } from "../../code-graph.ts";
import { EDGE_TYPES } from "../../model.ts";
import { isTestPath } from "../../test-paths.ts";
import type { AskEntry, AskGroup, Groups } from "./ask.ts";
import { isBelow } from "./cycles.ts";
import { typeSet } from "./path.ts";

const REACHING = typeSet("CALLS", "USES", "EXTENDS", "IMPLEMENTS", "IMPORTS", "MAY_CALL");
const CONTAINS = EDGE_TYPES.indexOf("CONTAINS");
const INHERITS = typeSet("EXTENDS", "IMPLEMENTS");
const JUDGED = new Set(["Function", "Class", "Method", "Struct", "Interface"]);
/** The language or a framework calls these, even if no code names them. */
const CALLED_BY_NAME = /^(main|init|constructor|__\w+__|setUp|tearDown|\[.*|default|toString|toJSON|render)$|^[Tt]est/;

/** Not exported ones nothing mentions, then exported ones only others may use, then what only tests reach. */
export function findDeadCode(graph: CodeGraph, folder: string, limit: number): Groups {
  const lists: { unused: number[]; exported: number[]; tested: number[] } = { unused: [], exported: [], tested: [] };
  for (let row = 0; row < graph.nodeCount; row++) {
    if (!JUDGED.has(graph.label(row)) || CALLED_BY_NAME.test(graph.nodes.name[row]!)) continue;
    const path = graph.filePath(row);
    if (!isBelow(path, folder) || isTestPath(path) || path.endsWith(".d.ts")) continue;
    const reached = reachedBy(graph, row);
    if (reached === "product" || isDecorated(graph, row) || mayOverride(graph, row)) continue;
    if (reached === "tests") lists.tested.push(row);
    else if (graph.nodes.exported[row] === 1) lists.exported.push(row);
    else lists.unused.push(row);
  }
  const group = (title: string, rows: readonly number[]): AskGroup => ({
    title,
    entries: rows.slice(0, limit).map((row): AskEntry => ({ symbol: graph.node(row) })),
    total: rows.length,
  });
  const groups = [
    group("nothing mentions them", lists.unused),
    group("only tests use them", lists.tested),
    group("exported, and used by nothing in this repository", lists.exported),
  ].filter(({ total }) => total > 0);
  const summary =
    "Not reached by calls, uses or imports. Entry points, overrides and decorated symbols are left out; what is called by a name made at run time may be among them.";
  return { summary, groups };
}

/** Who mentions a symbol or, of a type, one of its members. */
function reachedBy(graph: CodeGraph, row: number): "product" | "tests" | "nothing" {
  let tests = false;
  const file = graph.nodes.file[row]!;
  for (const one of [row, ...membersOf(graph, row)]) {
    for (const edge of graph.incoming(one)) {
      if (!REACHING.has(graph.edges.type[edge]!)) continue;
      const from = graph.edges.from[edge]!;
      if (from === row || isWithin(graph, from, row)) continue;
      // A file that imports a name need not use it, but the compiler would say so.
      if (from === file && graph.edges.type[edge] === EDGE_TYPES.indexOf("IMPORTS")) continue;
      if (!isTestPath(graph.filePath(from))) return "product";
      tests = true;
    }
  }
  return tests ? "tests" : "nothing";
}

function membersOf(graph: CodeGraph, row: number): number[] {
  if (graph.label(row) === "Function" || graph.label(row) === "Method") return [];
  const rows: number[] = [];
  for (const edge of graph.outgoing(row)) if (graph.edges.type[edge] === CONTAINS) rows.push(graph.edges.to[edge]!);
  return rows;
}

function isWithin(graph: CodeGraph, row: number, outer: number): boolean {
  for (let at = row; ; ) {
    const edge = graph.incoming(at).find((one) => graph.edges.type[one] === CONTAINS);
    if (edge === undefined) return false;
    at = graph.edges.from[edge]!;
    if (at === outer) return true;
  }
}

function isDecorated(graph: CodeGraph, row: number): boolean {
  return graph
    .outgoing(row)
    .some((edge) => graph.edges.type[edge] === CONTAINS && graph.label(graph.edges.to[edge]!) === "Decorator");
}

/** A method of a type that extends or implements another may be called as the other's, or as a declaration's. */
function mayOverride(graph: CodeGraph, row: number): boolean {
  if (graph.label(row) !== "Method") return false;
  const holding = graph.incoming(row).find((edge) => graph.edges.type[edge] === CONTAINS);
  if (holding === undefined) return false;
  const owner = graph.edges.from[holding]!;
  return (
    graph.implementation(owner) !== undefined ||
    graph.label(owner) === "Interface" ||
    graph.outgoing(owner).some((edge) => INHERITS.has(graph.edges.type[edge]!))
  );
}
