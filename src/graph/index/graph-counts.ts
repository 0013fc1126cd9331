/** Counts the nodes, relationships and groups of a graph, for its manifest. */
import type { CodeGraph } from "../code-graph.ts";
import { EDGE_TYPES, NODE_LABELS, REASONS } from "../model.ts";
import type { ExactReferences } from "../scip/exact-references.ts";
import type { CachedFile } from "../store/fact-cache.ts";
import type { Manifest } from "../store/graph-store.ts";

export function countsOf(
  graph: CodeGraph,
): Pick<Manifest, "nodes" | "relationships" | "communities" | "processes" | "byLabel" | "byType" | "languages"> {
  const byLabel = tally(graph.nodes.label, NODE_LABELS);
  const byType = tally(graph.edges.type, EDGE_TYPES);
  const languages: Record<string, number> = {};
  for (const language of graph.languages) if (language) languages[language] = (languages[language] ?? 0) + 1;
  return {
    nodes: graph.nodeCount,
    relationships: graph.edgeCount,
    communities: graph.communities.length,
    processes: graph.processes.length,
    byLabel,
    byType,
    languages,
  };
}

const EXACT = REASONS.indexOf("exact");

/**
 * What the graph has from SCIP indexes: the number of files whose content still matches the index, and the number of
 * calls.
 */
export function exactOf(
  graph: CodeGraph,
  files: readonly Pick<CachedFile, "path" | "hash">[],
  references: ExactReferences,
): Manifest["exact"] {
  if (references.files.size === 0) return { files: 0, calls: 0 };
  const covered = files.filter(({ path, hash }) => references.files.get(path)?.hash === hash);
  return { files: covered.length, calls: graph.edges.reason.filter((reason) => reason === EXACT).length };
}

/** Counts how often each name occurs in a column of rows; names that do not occur are left out. */
function tally(rows: Uint8Array, names: readonly string[]): Record<string, number> {
  const counts = new Int32Array(names.length);
  for (let i = 0; i < rows.length; i++) counts[rows[i]!]!++;
  return Object.fromEntries(names.map((name, i) => [name, counts[i]!] as const).filter(([, count]) => count > 0));
}
