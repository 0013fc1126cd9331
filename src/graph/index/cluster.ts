/**
 * Phase five: communities. Louvain's modularity over weighted edges, with communities that fell apart split into their
 * connected parts. Deterministic: nodes are visited in row order, ties go to the lower community.
 *
 * Source: Blondel et al., "Fast unfolding of communities in large networks" (2008); connectivity as in Traag et al.,
 * "From Louvain to Leiden" (2019).
 */

import type { CodeGraph, Community } from "../code-graph.ts";
import { CONFIDENCE, EDGE_TYPES, REASONS, REFERENCE_LABELS } from "../model.ts";
import { clusterLabels } from "./cluster-labels.ts";

/** Weights of edges by type: the closer two symbols work together, the higher. */
const WEIGHT: Partial<Record<(typeof EDGE_TYPES)[number], number>> = {
  CALLS: 3,
  EXTENDS: 3,
  IMPLEMENTS: 2,
  USES: 1,
  CONTAINS: 2,
};
const MIN_MEMBERS = 3;
const MAX_PASSES = 12;
const MAX_LEVELS = 12;

interface Weighted {
  count: number;
  start: Int32Array;
  neighbour: Int32Array;
  weight: Float64Array;
  /** Weight of a node's own loops, both directions. */
  loops: Float64Array;
}

/** Finds the communities of a graph's symbols. Node rows of the communities themselves are not assigned yet (-1). */
export function findCommunities(graph: CodeGraph): Community[] {
  const members: number[] = [];
  const index = new Int32Array(graph.nodeCount).fill(-1);
  for (let node = 0; node < graph.nodeCount; node++) {
    const label = graph.label(node);
    if (label === "File" || label === "Folder" || label === "Community" || label === "Process") continue;
    if (REFERENCE_LABELS.has(label)) continue;
    index[node] = members.length;
    members.push(node);
  }
  const base = weightedGraph(graph, index, members.length);
  const partition = splitDisconnected(base, louvain(base));
  return describe(graph, base, members, partition);
}

function weightedGraph(graph: CodeGraph, index: Int32Array, count: number): Weighted {
  const { type, reason, from, to } = graph.edges;
  const from2: number[] = [];
  const to2: number[] = [];
  const weights: number[] = [];
  for (let edge = 0; edge < graph.edgeCount; edge++) {
    const factor = WEIGHT[EDGE_TYPES[type[edge]!]!];
    if (factor === undefined) continue;
    const a = index[from[edge]!]!;
    const b = index[to[edge]!]!;
    if (a < 0 || b < 0 || a === b) continue;
    from2.push(a);
    to2.push(b);
    weights.push(factor * CONFIDENCE[REASONS[reason[edge]!]!]);
  }
  return compress(count, from2, to2, weights);
}

/** Both directions of every edge, sorted by node; parallel edges added up. */
function compress(count: number, from: readonly number[], to: readonly number[], weights: readonly number[]): Weighted {
  const degree = new Int32Array(count + 1);
  const loops = new Float64Array(count);
  for (let i = 0; i < from.length; i++) {
    if (from[i] === to[i]) loops[from[i]!]! += weights[i]!;
    else {
      degree[from[i]! + 1]!++;
      degree[to[i]! + 1]!++;
    }
  }
  for (let i = 0; i < count; i++) degree[i + 1]! += degree[i]!;
  const at = degree.slice(0, count);
  const neighbour = new Int32Array(degree[count]!);
  const weight = new Float64Array(degree[count]!);
  const put = (a: number, b: number, w: number) => {
    neighbour[at[a]!] = b;
    weight[at[a]!++] = w;
  };
  for (let i = 0; i < from.length; i++) {
    if (from[i] === to[i]) continue;
    put(from[i]!, to[i]!, weights[i]!);
    put(to[i]!, from[i]!, weights[i]!);
  }
  return { count, start: degree, neighbour, weight, loops };
}

/** Community of each node. */
function louvain(base: Weighted): Int32Array {
  let level = base;
  let result = Int32Array.from({ length: base.count }, (_, i) => i);
  for (let depth = 0; depth < MAX_LEVELS; depth++) {
    const local = moveNodes(level);
    const renumbered = renumber(local);
    result = result.map((community) => renumbered.of[community]!);
    if (renumbered.count === level.count) break;
    level = aggregate(level, renumbered.of, renumbered.count);
  }
  return result;
}

function moveNodes(level: Weighted): Int32Array {
  const { count, start, neighbour, weight, loops } = level;
  const community = Int32Array.from({ length: count }, (_, i) => i);
  const strength = new Float64Array(count);
  let total = 0;
  for (let node = 0; node < count; node++) {
    let sum = loops[node]! * 2;
    for (let i = start[node]!; i < start[node + 1]!; i++) sum += weight[i]!;
    strength[node] = sum;
    total += sum;
  }
  if (total === 0) return community;
  const inside = strength.slice();
  const gain = new Float64Array(count);
  const touched: number[] = [];
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    let moved = 0;
    for (let node = 0; node < count; node++) {
      const own = community[node]!;
      touched.length = 0;
      for (let i = start[node]!; i < start[node + 1]!; i++) {
        const other = community[neighbour[i]!]!;
        if (gain[other] === 0) touched.push(other);
        gain[other]! += weight[i]!;
      }
      const mine = strength[node]!;
      inside[own]! -= mine;
      let best = own;
      let bestGain = gain[own]! - (inside[own]! * mine) / total;
      for (const other of touched) {
        const value = gain[other]! - (inside[other]! * mine) / total;
        if (value > bestGain + 1e-9 || (value > bestGain - 1e-9 && other < best)) {
          best = other;
          bestGain = value;
        }
      }
      inside[best]! += mine;
      for (const other of touched) gain[other] = 0;
      if (best !== own) {
        community[node] = best;
        moved++;
      }
    }
    if (moved === 0) break;
  }
  return community;
}

function renumber(community: Int32Array): { of: Int32Array; count: number } {
  const seen = new Map<number, number>();
  const of = new Int32Array(community.length);
  for (let i = 0; i < community.length; i++) {
    let id = seen.get(community[i]!);
    if (id === undefined) {
      id = seen.size;
      seen.set(community[i]!, id);
    }
    of[i] = id;
  }
  return { of, count: seen.size };
}

function aggregate(level: Weighted, of: Int32Array, count: number): Weighted {
  const sums = new Map<number, number>();
  for (let node = 0; node < level.count; node++) {
    const a = of[node]!;
    if (level.loops[node]! > 0) sums.set(a * count + a, (sums.get(a * count + a) ?? 0) + level.loops[node]!);
    for (let i = level.start[node]!; i < level.start[node + 1]!; i++) {
      const b = of[level.neighbour[i]!]!;
      if (a > b || (a === b && node > level.neighbour[i]!)) continue;
      sums.set(a * count + b, (sums.get(a * count + b) ?? 0) + level.weight[i]!);
    }
  }
  const from: number[] = [];
  const to: number[] = [];
  const weights: number[] = [];
  for (const [key, weight] of sums) {
    from.push(Math.floor(key / count));
    to.push(key % count);
    weights.push(weight);
  }
  return compress(count, from, to, weights);
}

function splitDisconnected(base: Weighted, community: Int32Array): Int32Array {
  const part = new Int32Array(base.count).fill(-1);
  let parts = 0;
  const stack: number[] = [];
  for (let node = 0; node < base.count; node++) {
    if (part[node]! >= 0) continue;
    part[node] = parts;
    stack.push(node);
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      for (let i = base.start[at]!; i < base.start[at + 1]!; i++) {
        const other = base.neighbour[i]!;
        if (part[other]! < 0 && community[other] === community[node]) {
          part[other] = parts;
          stack.push(other);
        }
      }
    }
    parts++;
  }
  return part;
}

function describe(graph: CodeGraph, base: Weighted, members: readonly number[], partition: Int32Array): Community[] {
  const groups = new Map<number, number[]>();
  for (let i = 0; i < partition.length; i++) {
    const list = groups.get(partition[i]!);
    if (list) list.push(i);
    else groups.set(partition[i]!, [i]);
  }
  const found: Community[] = [];
  for (const [id, group] of groups) {
    if (group.length < MIN_MEMBERS) continue;
    let inner = 0;
    let all = 0;
    const degree = new Map<number, number>();
    for (const i of group) {
      let sum = 0;
      for (let e = base.start[i]!; e < base.start[i + 1]!; e++) {
        sum += base.weight[e]!;
        if (partition[base.neighbour[e]!] === id) inner += base.weight[e]!;
      }
      all += sum;
      degree.set(i, sum);
    }
    const sorted = [...group].sort((a, b) => degree.get(b)! - degree.get(a)! || a - b);
    const cohesion = all === 0 ? 0 : Math.round((inner / all) * 1000) / 1000;
    found.push({ node: -1, label: "", cohesion, members: sorted.map((i) => members[i]!) });
  }
  found.sort((a, b) => b.members.length - a.members.length || a.members[0]! - b.members[0]!);
  clusterLabels(graph, found);
  return found;
}
