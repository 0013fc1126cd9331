/** A part of the graph for drawing: the most connected nodes, and the edges between them. */
import type { CodeGraph } from "../code-graph.ts";
import { EDGE_TYPES, type EdgeType, type GraphEdge, type GraphNode, NODE_LABELS, type NodeLabel } from "../model.ts";
import { type CommunityView, communityView, type ProcessView, processView } from "./symbols.ts";

export interface GraphDataOptions {
  labels?: readonly NodeLabel[] | undefined;
  types?: readonly EdgeType[] | undefined;
  /** Only nodes in files under this path. */
  path?: string | undefined;
  /** At most this many nodes; 1–20,000. */
  limit: number;
}

export interface GraphData {
  nodes: (GraphNode & { degree: number })[];
  edges: GraphEdge[];
  communities: CommunityView[];
  processes: ProcessView[];
  truncated: boolean;
  total: number;
}

const MAX_EDGES_PER_NODE = 6;
/** More than a graph has rows. A degree times this number is still an exact integer. */
const ROWS = 2 ** 32;

export function graphData(graph: CodeGraph, options: GraphDataOptions): GraphData {
  const labels = new Set((options.labels ?? []).map((label) => NODE_LABELS.indexOf(label)));
  const types = new Set((options.types ?? []).map((type) => EDGE_TYPES.indexOf(type)));
  const fitting = new Float64Array(graph.nodeCount);
  let total = 0;
  const degree = new Int32Array(graph.nodeCount);
  for (let node = 0; node < graph.nodeCount; node++) {
    degree[node] = graph.outgoing(node).length + graph.incoming(node).length;
    if (labels.size > 0 && !labels.has(graph.nodes.label[node]!)) continue;
    if (options.path && !isWithin(graph, node, options.path)) continue;
    // Packs degree and row into one number. Sorted, the highest degree comes last, and the first row last among equals.
    fitting[total++] = degree[node]! * ROWS + (ROWS - 1 - node);
  }
  const keys = fitting.subarray(0, total).sort();
  const chosen = Array.from(keys.subarray(Math.max(0, total - options.limit)), (key) => ROWS - 1 - (key % ROWS));
  chosen.reverse();
  const inside = new Uint8Array(graph.nodeCount);
  for (const node of chosen) inside[node] = 1;
  const edges: GraphEdge[] = [];
  const maxEdges = options.limit * MAX_EDGES_PER_NODE;
  let cut = false;
  for (const node of chosen) {
    for (const edge of graph.outgoing(node)) {
      if (inside[graph.edges.to[edge]!] !== 1 || (types.size > 0 && !types.has(graph.edges.type[edge]!))) continue;
      if (edges.length >= maxEdges) cut = true;
      else edges.push(graph.edge(edge));
    }
  }
  return {
    nodes: chosen.map((node) => ({ ...graph.node(node), degree: degree[node]! })),
    edges,
    communities: graph.communities.flatMap((community, i) =>
      inside[community.node] === 1 || community.members.some((node) => inside[node] === 1)
        ? [communityView(graph, i)]
        : [],
    ),
    processes: graph.processes.flatMap((process, i) =>
      process.steps.some((node) => inside[node] === 1) ? [processView(graph, i)] : [],
    ),
    truncated: chosen.length < total || cut,
    total,
  };
}

function isWithin(graph: CodeGraph, node: number, path: string): boolean {
  const label = graph.label(node);
  const own = label === "File" || label === "Folder" ? graph.nodes.qualified.get(node)! : graph.filePath(node);
  return own === path || own.startsWith(`${path.replace(/\/$/, "")}/`);
}
