/** Finds the tests that reach a symbol, and the product code that calls it. */
import type { CodeGraph } from "../../code-graph.ts";
import { EDGE_TYPES } from "../../model.ts";
import { holdsTests, isTestPath } from "../../test-paths.ts";
import type { AskEntry, Groups } from "./ask.ts";
import { typeSet } from "./path.ts";

const FOLLOWED = typeSet("CALLS", "USES");
const CONTAINS = EDGE_TYPES.indexOf("CONTAINS");
const MAX_DEPTH = 6;
const TYPES = /^(Class|Struct|Interface|Trait|Enum)$/;

/** Whether any other symbol calls or uses this one. */
const isCalled = (graph: CodeGraph, row: number): boolean =>
  graph.incoming(row).some((edge) => FOLLOWED.has(graph.edges.type[edge]!) && graph.edges.from[edge] !== row);

export function findTests(graph: CodeGraph, target: number, limit: number): Groups {
  const tests: AskEntry[] = [];
  const product: AskEntry[] = [];
  const seen = new Set<number>([target]);
  if (TYPES.test(graph.label(target)))
    for (const edge of graph.outgoing(target)) if (graph.edges.type[edge] === CONTAINS) seen.add(graph.edges.to[edge]!);
  let frontier = [...seen];
  for (let depth = 1; depth <= MAX_DEPTH && frontier.length > 0; depth++) {
    const next: number[] = [];
    for (const row of frontier) {
      for (const edge of graph.incoming(row)) {
        const from = graph.edges.from[edge]!;
        if (!FOLLOWED.has(graph.edges.type[edge]!) || seen.has(from)) continue;
        seen.add(from);
        const entry: AskEntry = { symbol: graph.node(from), depth, line: graph.edges.line[edge]! };
        const path = graph.filePath(from);
        // Nothing calls a test. A called symbol in a file of tests is a helper: the tests are among its callers.
        if (holdsTests(path) && !isCalled(graph, from)) tests.push(entry);
        else {
          if (depth === 1 && !isTestPath(path)) product.push(entry);
          next.push(from);
        }
      }
    }
    frontier = next;
  }
  const toGroup = (title: string, entries: AskEntry[]) => ({
    title,
    entries: entries.slice(0, limit),
    total: entries.length,
  });
  const files = new Set(tests.map(({ symbol }) => symbol.file_path || symbol.qualified_name));
  const summary =
    tests.length === 0
      ? `No test reaches it within ${MAX_DEPTH} calls.`
      : `Reached by ${tests.length === 1 ? "1 test" : `${tests.length} tests`} in ${files.size === 1 ? "1 file" : `${files.size} files`}; depth 1 calls it directly.`;
  return {
    summary,
    groups: [toGroup("tests", tests), toGroup("product code that calls it", product)].filter(({ total }) => total > 0),
  };
}
