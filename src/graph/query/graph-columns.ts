/**
 * A part of the graph for drawing, in a compact form: columns instead of rows, with each file and kind named once. It
 * is either a map (the most connected symbols of each cluster) or the neighborhood of a symbol, with the distance of
 * each node.
 */
import type { CodeGraph } from "../code-graph.ts";
import { GraphError } from "../graph-error.ts";
import {
  CONFIDENCE,
  EDGE_TYPES,
  NODE_LABELS,
  type NodeLabel,
  REASONS,
  REFERENCE_LABELS,
  SYMBOL_LABELS,
} from "../model.ts";
import { placeDiscs, spotIn } from "./graph-layout.ts";
import { candidatesOf, findSymbols, toUnclear } from "./symbols.ts";

export interface GraphColumnsOptions {
  /** A symbol, by id or name. If given, its neighborhood is returned instead of a map. */
  focus?: string | undefined;
  /** How many steps from the focus are followed, each way; 1–5. */
  depth: number;
  /** At most this many symbols; 1–2,000. */
  limit: number;
  labels?: readonly NodeLabel[] | undefined;
  /** Only symbols in files under this path. Does not apply with a focus. */
  path?: string | undefined;
}

export interface GraphColumns {
  labels: string[];
  types: string[];
  files: string[];
  nodes: {
    id: string[];
    name: string[];
    /** Indexes into `labels`, `files` and `communities`; -1 for none. */
    label: number[];
    file: number[];
    community: number[];
    line: number[];
    /** How many relationships the symbol has in the whole graph. */
    degree: number[];
    /** Steps from the focus: negative for what depends on it, positive for what it depends on. All 0 on a map. */
    hops: number[];
    x: number[];
    y: number[];
  };
  edges: { from: number[]; to: number[]; type: number[]; confidence: number[] };
  communities: { id: string[]; label: string[]; symbol_count: number[]; x: number[]; y: number[]; r: number[] };
  /** How many relationships there are between two clusters. On a map only. */
  links: { from: number[]; to: number[]; count: number[] };
  truncated: boolean;
  /** How many symbols there are, including those left out. */
  total: number;
}

const typesOf = (...names: (typeof EDGE_TYPES)[number][]) => new Set(names.map((name) => EDGE_TYPES.indexOf(name)));
const FOLLOWED = typesOf("CALLS", "USES", "IMPORTS", "EXTENDS", "IMPLEMENTS");
/** A map has at most this many clusters. If there are more, the smallest are left out. */
const MAX_DISCS = 300;
/** The disc of a map for symbols that are in no cluster. */
const LOOSE = { id: "none", label: "In no cluster" };
const EDGES_PER_NODE = 4;
/** Distances in a neighborhood: between columns, and between the symbols of a column. */
const COLUMN = 320;
const ROW = 48;

interface Chosen {
  node: number;
  hops: number;
  x: number;
  y: number;
}

export function graphColumns(graph: CodeGraph, options: GraphColumnsOptions): GraphColumns {
  const community = communitiesOf(graph);
  return options.focus === undefined
    ? mapOf(graph, community, options)
    : neighbourhoodOf(graph, community, { ...options, focus: options.focus });
}

/** The community of each node, -1 for none. */
function communitiesOf(graph: CodeGraph): Int32Array {
  const of = new Int32Array(graph.nodeCount).fill(-1);
  graph.communities.forEach(({ members }, at) => {
    for (const node of members) of[node] = at;
  });
  return of;
}

const degreeOf = (graph: CodeGraph, node: number): number => graph.outgoing(node).length + graph.incoming(node).length;

const DECLARED = new Set(
  SYMBOL_LABELS.filter((label) => !REFERENCE_LABELS.has(label)).map((label) => NODE_LABELS.indexOf(label)),
);

/** Declared symbols that are in no cluster. */
const looseOf = (graph: CodeGraph, community: Int32Array): number[] =>
  [...community.keys()].filter((node) => community[node] === -1 && DECLARED.has(graph.nodes.label[node]!));

/** The nodes by degree, most connected first. */
function byDegree(graph: CodeGraph, nodes: readonly number[]): number[] {
  return nodes
    .map((node) => ({ node, degree: degreeOf(graph, node) }))
    .sort((a, b) => b.degree - a.degree || a.node - b.node)
    .map(({ node }) => node);
}

function mapOf(graph: CodeGraph, community: Int32Array, { limit, labels, path }: GraphColumnsOptions): GraphColumns {
  const wanted = new Set((labels ?? []).map((label) => NODE_LABELS.indexOf(label)));
  const folder = path === undefined ? undefined : `${path.replace(/\/$/, "")}/`;
  const fits = (node: number) =>
    (wanted.size === 0 || wanted.has(graph.nodes.label[node]!)) &&
    (folder === undefined || `${graph.filePath(node)}/`.startsWith(folder));
  const groups = graph.communities
    .map(({ members }, at) => ({ at, members: members.filter(fits) }))
    .filter(({ members }) => members.length > 0)
    .sort((a, b) => b.members.length - a.members.length || a.at - b.at);
  const loose = { at: graph.communities.length, members: looseOf(graph, community).filter(fits) };
  for (const node of loose.members) community[node] = loose.at;
  const total = groups.reduce((sum, { members }) => sum + members.length, loose.members.length);
  const room = Math.min(MAX_DISCS, limit);
  const discs = loose.members.length > 0 ? [...groups.slice(0, room - 1), loose] : groups.slice(0, room);
  const share = Math.min(1, limit / Math.max(total, 1));
  let left = limit;
  const shown = discs.map(({ at, members }, place) => {
    // Every cluster shows at least one symbol.
    const most = Math.min(left - (discs.length - place - 1), Math.max(1, Math.floor(members.length * share)));
    const nodes = byDegree(graph, members).slice(0, most);
    left -= nodes.length;
    return { at, nodes };
  });
  const links = linksBetween(graph, community, new Map(shown.map(({ at }, place) => [at, place])));
  const places = placeDiscs(
    shown.map(({ nodes }) => nodes.length),
    links,
  );
  const chosen = shown.flatMap(({ nodes }, place) =>
    nodes.map((node, nth): Chosen => ({ node, hops: 0, ...spotIn(places[place]!, nth) })),
  );
  const columns = columnsOf(
    graph,
    community,
    chosen,
    shown.map(({ at }) => at),
  );
  for (const { x, y, r } of places) {
    columns.communities.x.push(Math.round(x));
    columns.communities.y.push(Math.round(y));
    columns.communities.r.push(Math.round(r));
  }
  for (const { from, to, count } of links) {
    columns.links.from.push(from);
    columns.links.to.push(to);
    columns.links.count.push(count);
  }
  return { ...columns, truncated: columns.truncated || chosen.length < total, total };
}

/** Counts relationships between different clusters, both directions together. Clusters are named by their places. */
function linksBetween(graph: CodeGraph, community: Int32Array, places: ReadonlyMap<number, number>) {
  const { from, to, type } = graph.edges;
  const counts = new Map<number, number>();
  for (let edge = 0; edge < graph.edgeCount; edge++) {
    if (!FOLLOWED.has(type[edge]!)) continue;
    const [a, b] = [places.get(community[from[edge]!]!), places.get(community[to[edge]!]!)];
    if (a === undefined || b === undefined || a === b) continue;
    const key = Math.min(a, b) * MAX_DISCS + Math.max(a, b);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => ({ from: Math.floor(key / MAX_DISCS), to: key % MAX_DISCS, count }));
}

function neighbourhoodOf(
  graph: CodeGraph,
  community: Int32Array,
  { focus, depth, limit }: GraphColumnsOptions & { focus: string },
): GraphColumns {
  const rows = findSymbols(graph, focus);
  const [node] = rows;
  if (node === undefined || rows.length > 1) {
    const { candidates } = candidatesOf(toUnclear(graph, focus, rows));
    throw new GraphError("invalid", `${candidates.length} symbols have this name: ask by id`);
  }
  const hops = new Map([[node, 0]]);
  let total = 1;
  for (const side of [-1, 1] as const) {
    let edge = [node];
    for (let step = 1; step <= depth && edge.length > 0; step++) {
      const next = new Set(edge.flatMap((one) => neighboursOf(graph, one, side)).filter((one) => !hops.has(one)));
      total += next.size;
      // Each side gets half of the room, filled with the most connected symbols.
      const room = Math.ceil((limit - 1) / 2) - [...hops.values()].filter((hop) => hop * side > 0).length;
      edge = byDegree(graph, [...next]).slice(0, Math.max(0, room));
      for (const one of edge) hops.set(one, side * step);
    }
  }
  const inColumn = Map.groupBy(hops, ([, hop]) => hop);
  const chosen = [...inColumn].flatMap(([hop, members]) =>
    members.map(
      ([one], at): Chosen => ({ node: one, hops: hop, x: hop * COLUMN, y: (at - (members.length - 1) / 2) * ROW }),
    ),
  );
  const known = [...new Set(chosen.map(({ node: one }) => community[one]!))].filter((at) => at >= 0);
  const columns = columnsOf(graph, community, chosen, known);
  return { ...columns, truncated: columns.truncated || chosen.length < total, total };
}

function neighboursOf(graph: CodeGraph, node: number, side: -1 | 1): number[] {
  const edges = side < 0 ? graph.incoming(node) : graph.outgoing(node);
  const ends = side < 0 ? graph.edges.from : graph.edges.to;
  return Array.from(edges).flatMap((edge) => (FOLLOWED.has(graph.edges.type[edge]!) ? [ends[edge]!] : []));
}

/** @param shown the shown communities, in the order by which `nodes.community` refers to them */
function columnsOf(
  graph: CodeGraph,
  community: Int32Array,
  chosen: readonly Chosen[],
  shown: readonly number[],
): Omit<GraphColumns, "total"> {
  const files = new Map<string, number>();
  const fileAt = (path: string) => {
    if (path === "") return -1;
    if (!files.has(path)) files.set(path, files.size);
    return files.get(path)!;
  };
  const discOf = new Map(shown.map((at, place) => [at, place]));
  const toColumn = <T>(of: (one: Chosen) => T): T[] => chosen.map(of);
  const nodes = {
    id: toColumn(({ node }) => graph.id(node)),
    name: toColumn(({ node }) => graph.nodes.name.get(node)!),
    label: toColumn(({ node }) => graph.nodes.label[node]!),
    file: toColumn(({ node }) => fileAt(graph.filePath(node))),
    community: toColumn(({ node }) => discOf.get(community[node]!) ?? -1),
    line: toColumn(({ node }) => graph.nodes.startLine[node]!),
    degree: toColumn(({ node }) => degreeOf(graph, node)),
    hops: toColumn(({ hops }) => hops),
    x: toColumn(({ x }) => Math.round(x)),
    y: toColumn(({ y }) => Math.round(y)),
  };
  const { edges, cut } = edgesAmong(graph, chosen);
  return {
    labels: [...NODE_LABELS],
    types: [...EDGE_TYPES],
    files: [...files.keys()],
    nodes,
    edges,
    communities: { ...communityColumns(graph, community, shown), x: [], y: [], r: [] },
    links: { from: [], to: [], count: [] },
    truncated: cut,
  };
}

function communityColumns(graph: CodeGraph, community: Int32Array, shown: readonly number[]) {
  const about = shown.map((at) => {
    const known = graph.communities[at];
    if (known) return { id: graph.id(known.node), label: known.label, count: known.members.length };
    return { ...LOOSE, count: community.reduce((sum, one) => sum + (one === at ? 1 : 0), 0) };
  });
  return {
    id: about.map(({ id }) => id),
    label: about.map(({ label }) => label),
    symbol_count: about.map(({ count }) => count),
  };
}

function edgesAmong(graph: CodeGraph, chosen: readonly Chosen[]) {
  const at = new Map(chosen.map(({ node }, place) => [node, place]));
  const edges: GraphColumns["edges"] = { from: [], to: [], type: [], confidence: [] };
  const seen = new Set<string>();
  const most = chosen.length * EDGES_PER_NODE;
  for (const { node } of chosen) {
    for (const edge of graph.outgoing(node)) {
      const [type, to] = [graph.edges.type[edge]!, at.get(graph.edges.to[edge]!)];
      if (!FOLLOWED.has(type) || to === undefined) continue;
      // Several calls of one function are drawn as one line.
      const key = `${at.get(node)} ${to} ${type}`;
      if (seen.has(key)) continue;
      if (edges.from.length >= most) return { edges, cut: true };
      seen.add(key);
      edges.from.push(at.get(node)!);
      edges.to.push(to);
      edges.type.push(type);
      edges.confidence.push(CONFIDENCE[REASONS[graph.edges.reason[edge]!]!]);
    }
  }
  return { edges, cut: false };
}
