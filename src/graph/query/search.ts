/** Search for symbols by words, with the flows and the cluster that each belongs to. */
import type { CodeGraph } from "../code-graph.ts";
import { NODE_LABELS, type NodeLabel } from "../model.ts";
import {
  type CommunityView,
  communityOf,
  communityView,
  type ProcessView,
  processesOf,
  processView,
  type SymbolView,
} from "./symbols.ts";
import type { WordIndex } from "./word-index.ts";

export interface SearchOptions {
  query: string;
  /** At most this many items, 1–100. */
  limit: number;
  labels?: readonly NodeLabel[] | undefined;
  includeCode: boolean;
}

interface SearchItem {
  symbol: SymbolView;
  score: number;
  processes: ProcessView[];
  community: CommunityView | null;
  snippet?: string;
}

export interface SearchAnswer {
  items: SearchItem[];
  /** Flows in which the found symbols take part, ordered by the summed scores of these symbols. */
  processes: ProcessView[];
}

const SNIPPET_LINES = 12;
const MAX_PROCESSES = 10;

export function searchGraph(
  graph: CodeGraph,
  index: WordIndex,
  options: SearchOptions,
  readLines: (path: string, from: number, to: number) => string,
): SearchAnswer {
  const labels = (options.labels ?? []).map((label) => NODE_LABELS.indexOf(label));
  const weight = new Map<number, number>();
  const items = index.find(options.query, options.limit, labels).map(({ node, score }): SearchItem => {
    const symbol = graph.node(node);
    const community = communityOf(graph, node);
    const processes = processesOf(graph, node);
    for (const process of processes) weight.set(process, (weight.get(process) ?? 0) + score);
    const item: SearchItem = {
      symbol,
      score: Math.round(score * 1000) / 1000,
      processes: processes.slice(0, MAX_PROCESSES).map((process) => processView(graph, process, node)),
      community: community < 0 ? null : communityView(graph, community),
    };
    if (options.includeCode && symbol.label !== "File") {
      const { file_path, start_line, end_line } = symbol.implementation ?? symbol;
      item.snippet = readLines(file_path, start_line, Math.min(end_line, start_line + SNIPPET_LINES - 1));
    }
    return item;
  });
  const processes = [...weight].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, MAX_PROCESSES);
  return { items, processes: processes.map(([process]) => processView(graph, process)) };
}
