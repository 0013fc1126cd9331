/** Finds a flow that is asked for in words: "how does a request get to the transport". */
import type { CodeGraph } from "../../code-graph.ts";
import { isTestPath } from "../../test-paths.ts";
import { wordsOf } from "../../words.ts";
import { contentWords } from "../stop-words.ts";
import type { WordIndex } from "../word-index.ts";
import type { AskEntry, Groups } from "./ask.ts";
import { shortestPath, stepsOf, typeSet } from "./path.ts";

const CALLS = typeSet("CALLS");
/** At most this many symbols are taken for the meaning of a word. */
const MAX_MEANT = 25;

/**
 * The shortest chain of calls in product code between symbols that two of the words name. The chain whose names hold
 * most of the words wins.
 */
export function findFlow(graph: CodeGraph, index: WordIndex, question: string, limit: number): Groups {
  const words = contentWords(question);
  const meant = words.map((word) => rowsFor(graph, index, word)).filter((rows) => rows.length > 0);
  const isProduct = (row: number) => !isTestPath(graph.filePath(row));
  let best: number[] | undefined;
  for (let a = 0; a < meant.length; a++) {
    for (let b = meant.length - 1; b > a; b--) {
      const ends = new Set(meant[b]!.filter((row) => !meant[a]!.includes(row)));
      const path =
        shortestPath(graph, meant[a]!, ends, CALLS, isProduct) ??
        shortestPath(graph, [...ends], new Set(meant[a]), CALLS, isProduct);
      if (path && covers(graph, path, words) > (best ? covers(graph, best, words) : 0)) best = path;
    }
  }
  const hits = index.find(words.join(" "), limit, []).filter(({ node }) => isProduct(node));
  const entries = hits.map(({ node }): AskEntry => ({ symbol: graph.node(node) }));
  const found = { title: "symbols that the words name", entries, total: entries.length };
  if (!best) return { summary: "No chain of calls joins what the words name.", groups: [found] };
  const steps = stepsOf(graph, best);
  const summary = `A chain of ${best.length === 1 ? "1 call" : `${best.length} calls`} joins what the words name.`;
  return { summary, groups: [{ title: "flow", entries: steps, total: steps.length }, found] };
}

const CALLABLE = new Set(["Function", "Method", "Class", "Struct", "Property", "Const", "Variable"]);

function rowsFor(graph: CodeGraph, index: WordIndex, word: string): number[] {
  const rows = index.find(word, MAX_MEANT * 2, []).map(({ node }) => node);
  const named = rows.filter((row) => CALLABLE.has(graph.label(row)) && !isTestPath(graph.filePath(row)));
  return named.slice(0, MAX_MEANT);
}

/** How many of the words occur in the names on a path. A fraction below 1 is added, larger for shorter paths. */
function covers(graph: CodeGraph, path: readonly number[], words: readonly string[]): number {
  const names = new Set<string>();
  for (const edge of path)
    for (const row of [graph.edges.from[edge]!, graph.edges.to[edge]!])
      for (const word of wordsOf(`${graph.nodes.qualified.get(row)} ${graph.filePath(row)}`)) names.add(word);
  return words.filter((word) => names.has(word)).length + 1 / (path.length + 1);
}
