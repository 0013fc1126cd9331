/**
 * Phase five: communities. Louvain's modularity over weighted edges, with communities that fell apart split into their
 * connected parts. Deterministic: nodes are visited in row order, ties go to the lower community.
 *
 * Source: Blondel et al., "Fast unfolding of communities in large networks" (2008); connectivity as in Traag et al.,
 * "From Louvain to Leiden" (2019).
 */

import { rowsBy } from "../adjacency.ts";
import type { CodeGraph, Community } from "../code-graph.ts";
import { CONFIDENCE, EDGE_TYPES, REASONS, REFERENCE_LABELS } from "../model.ts";
import { clusterLabels } from "./cluster-labels.ts";

/** Weight of each edge type. It is higher the more closely two symbols work together. */
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
  /**
   * Total weight of the edges inside each node, counted once. Nodes have them once communities are merged into nodes.
   */
  loops: Float64Array;
}

/** A partition of the nodes: the part of each node, and the number of parts. */
interface Parts {
  of: Int32Array;
  count: number;
}

/** Finds the communities of a graph's symbols. The communities have no node rows yet (`node` is -1). */
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

/** The symmetric weighted graph of the members: each edge is stored at both of its ends. */
function weightedGraph(graph: CodeGraph, index: Int32Array, count: number): Weighted {
  const { type, reason, from, to } = graph.edges;
  const factors = Float64Array.from(EDGE_TYPES, (name) => WEIGHT[name] ?? 0);
  const confidences = Float64Array.from(REASONS, (name) => CONFIDENCE[name]);
  const start = new Int32Array(count + 1);
  const isCounted = (edge: number): boolean => {
    const [a, b] = [index[from[edge]!]!, index[to[edge]!]!];
    return factors[type[edge]!]! > 0 && a >= 0 && b >= 0 && a !== b;
  };
  for (let edge = 0; edge < graph.edgeCount; edge++) {
    if (!isCounted(edge)) continue;
    start[index[from[edge]!]! + 1]!++;
    start[index[to[edge]!]! + 1]!++;
  }
  for (let i = 0; i < count; i++) start[i + 1]! += start[i]!;
  const at = start.slice(0, count);
  const neighbour = new Int32Array(start[count]!);
  const weight = new Float64Array(start[count]!);
  for (let edge = 0; edge < graph.edgeCount; edge++) {
    if (!isCounted(edge)) continue;
    const [a, b] = [index[from[edge]!]!, index[to[edge]!]!];
    const value = factors[type[edge]!]! * confidences[reason[edge]!]!;
    neighbour[at[a]!] = b;
    weight[at[a]!++] = value;
    neighbour[at[b]!] = a;
    weight[at[b]!++] = value;
  }
  return { count, start, neighbour, weight, loops: new Float64Array(count) };
}

/** The numbers 0 to count - 1. */
function countUp(count: number): Int32Array {
  const numbers = new Int32Array(count);
  for (let i = 0; i < count; i++) numbers[i] = i;
  return numbers;
}

/** Louvain's algorithm. @returns the community of each node */
function louvain(base: Weighted): Int32Array {
  let level = base;
  const result = countUp(base.count);
  for (let depth = 0; depth < MAX_LEVELS; depth++) {
    const local = moveNodes(level);
    const renumbered = renumber(local);
    for (let node = 0; node < result.length; node++) result[node] = renumbered.of[result[node]!]!;
    if (renumbered.count === level.count) break;
    level = aggregate(level, renumbered.of, renumbered.count);
  }
  return result;
}

function moveNodes(level: Weighted): Int32Array {
  const { count, start, neighbour, weight, loops } = level;
  const community = countUp(count);
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

/**
 * Renumbers communities from 0 in the order in which they are met. Before, a community is named by one of its nodes.
 */
function renumber(community: Int32Array): Parts {
  const ids = new Int32Array(community.length).fill(-1);
  const of = new Int32Array(community.length);
  let count = 0;
  for (let i = 0; i < community.length; i++) {
    const old = community[i]!;
    if (ids[old]! < 0) ids[old] = count++;
    of[i] = ids[old]!;
  }
  return { of, count };
}

/**
 * The next level: each community becomes one node. Weights between two communities are added up, as are those inside of
 * each.
 */
function aggregate(level: Weighted, of: Int32Array, count: number): Weighted {
  const members = rowsBy(of, count);
  const start = new Int32Array(count + 1);
  const loops = new Float64Array(count);
  // There are at most as many edges between communities as between their nodes.
  const neighbour = new Int32Array(level.neighbour.length);
  const weight = new Float64Array(level.neighbour.length);
  const place = new Int32Array(count).fill(-1);
  let end = 0;
  for (let community = 0; community < count; community++) {
    const first = end;
    let inner = 0;
    for (let member = members.start[community]!; member < members.start[community + 1]!; member++) {
      const node = members.rows[member]!;
      loops[community]! += level.loops[node]!;
      for (let i = level.start[node]!; i < level.start[node + 1]!; i++) {
        const other = of[level.neighbour[i]!]!;
        if (other === community) {
          inner += level.weight[i]!;
          continue;
        }
        if (place[other]! < first) {
          place[other] = end;
          neighbour[end++] = other;
        }
        weight[place[other]!]! += level.weight[i]!;
      }
    }
    // Each edge inside the community was met from both of its ends.
    loops[community]! += inner / 2;
    start[community + 1] = end;
  }
  return { count, start, neighbour: neighbour.subarray(0, end), weight: weight.subarray(0, end), loops };
}

/** Splits each community into its connected parts. */
function splitDisconnected({ count, start, neighbour }: Weighted, community: Int32Array): Parts {
  const of = new Int32Array(count).fill(-1);
  const stack = new Int32Array(count);
  let parts = 0;
  for (let node = 0; node < count; node++) {
    if (of[node]! >= 0) continue;
    const own = community[node]!;
    of[node] = parts;
    let depth = 0;
    stack[depth++] = node;
    while (depth > 0) {
      const at = stack[--depth]!;
      for (let i = start[at]!; i < start[at + 1]!; i++) {
        const other = neighbour[i]!;
        if (of[other]! >= 0 || community[other] !== own) continue;
        of[other] = parts;
        stack[depth++] = other;
      }
    }
    parts++;
  }
  return { of, count: parts };
}

function describe(graph: CodeGraph, base: Weighted, members: readonly number[], parts: Parts): Community[] {
  const { start, rows } = rowsBy(parts.of, parts.count);
  const degree = new Float64Array(base.count);
  const found: Community[] = [];
  for (let part = 0; part < parts.count; part++) {
    if (start[part + 1]! - start[part]! < MIN_MEMBERS) continue;
    const group = rows.slice(start[part]!, start[part + 1]!);
    let inner = 0;
    let all = 0;
    for (const node of group) {
      let sum = 0;
      for (let e = base.start[node]!; e < base.start[node + 1]!; e++) {
        sum += base.weight[e]!;
        if (parts.of[base.neighbour[e]!] === part) inner += base.weight[e]!;
      }
      all += sum;
      degree[node] = sum;
    }
    group.sort((a, b) => degree[b]! - degree[a]! || a - b);
    const cohesion = all === 0 ? 0 : Math.round((inner / all) * 1000) / 1000;
    found.push({ node: -1, label: "", cohesion, members: Array.from(group, (node) => members[node]!) });
  }
  found.sort((a, b) => b.members.length - a.members.length || a.members[0]! - b.members[0]!);
  clusterLabels(graph, found);
  return found;
}
