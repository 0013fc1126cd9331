/**
 * Phase six: execution flows. Flows start at entry points (functions that call others, but that no product function
 * calls) and follow calls, with few branches and no repeats. A flow that is part of another is left out.
 */
import type { CodeGraph, Community, Process } from "../code-graph.ts";
import { EDGE_TYPES } from "../model.ts";
import { isTestPath } from "../test-paths.ts";

const MAX_STEPS = 12;
const MIN_STEPS = 3;
const MAX_BRANCHES = 3;
const MAX_PATHS_PER_ENTRY = 3;
const MAX_VISITS_PER_ENTRY = 400;
const MAX_PROCESSES = 400;
const CALLS = EDGE_TYPES.indexOf("CALLS");
const NONE: readonly number[] = [];
const ENTRY_NAME =
  /^(main|run|start|serve|handle\w*|on[A-Z]\w*|execute|default|cli|app|setup|init|bootstrap|GET|POST|PUT|PATCH|DELETE)$|(Handler|Controller|Route|Command|Job|Task|Listener|Middleware)$/;

/** Finds the flows of a graph. `communities` decide whether a flow stays within one of them. */
export function findProcesses(graph: CodeGraph, communities: readonly Community[]): Process[] {
  const callees = productCallees(graph);
  const entries = entryPoints(graph, callees);
  const home = new Int32Array(graph.nodeCount).fill(-1);
  for (const [i, community] of communities.entries()) for (const member of community.members) home[member] = i;
  const paths: number[][] = [];
  for (const entry of entries) {
    if (paths.length >= MAX_PROCESSES * 2) break;
    paths.push(...pathsFrom(entry, callees));
  }
  return dropContained(paths)
    .slice(0, MAX_PROCESSES)
    .map((steps) => describe(graph, steps, home));
}

/** The symbols that each symbol calls, without tests. */
function productCallees(graph: CodeGraph): (readonly number[])[] {
  const callees = new Array<number[] | undefined>(graph.nodeCount);
  const inTests = testNodes(graph);
  const { type, from, to } = graph.edges;
  for (let edge = 0; edge < graph.edgeCount; edge++) {
    if (type[edge] !== CALLS) continue;
    const [a, b] = [from[edge]!, to[edge]!];
    if (a === b || inTests[a] === 1 || inTests[b] === 1) continue;
    const known = callees[a];
    if (known) known.push(b);
    else callees[a] = [b];
  }
  return Array.from(callees, (list: readonly number[] = NONE) => (list.length > 1 ? [...new Set(list)] : list));
}

function testNodes(graph: CodeGraph): Uint8Array {
  const flags = new Uint8Array(graph.nodeCount);
  const files = new Map<number, boolean>();
  for (let node = 0; node < graph.nodeCount; node++) {
    const file = graph.label(node) === "File" ? node : graph.nodes.file[node]!;
    if (file < 0) continue;
    let test = files.get(file);
    if (test === undefined) {
      test = isTestPath(graph.nodes.qualified.get(file)!);
      files.set(file, test);
    }
    if (test) flags[node] = 1;
  }
  return flags;
}

/**
 * Functions and methods that no product function calls, best candidates first. Top-level code of a file may call them.
 */
function entryPoints(graph: CodeGraph, callees: readonly (readonly number[])[]): number[] {
  const called = new Uint8Array(graph.nodeCount);
  for (let node = 0; node < graph.nodeCount; node++) {
    if (graph.label(node) === "File") continue;
    for (const callee of callees[node]!) called[callee] = 1;
  }
  const scored: { node: number; score: number }[] = [];
  for (let node = 0; node < graph.nodeCount; node++) {
    const label = graph.label(node);
    if ((label !== "Function" && label !== "Method") || called[node] === 1 || callees[node]!.length === 0) continue;
    const name = graph.nodes.name.get(node)!;
    let score = Math.min(callees[node]!.length, 10);
    if (graph.nodes.exported[node] === 1) score += 6;
    if (ENTRY_NAME.test(name)) score += 8;
    if (name === "constructor" || name.startsWith("_")) score -= 6;
    scored.push({ node, score });
  }
  scored.sort((a, b) => b.score - a.score || a.node - b.node);
  return scored.map((entry) => entry.node);
}

/** The longest call chains from an entry, at most one for each last function. */
function pathsFrom(entry: number, callees: readonly (readonly number[])[]): number[][] {
  const found: number[][] = [];
  const path: number[] = [];
  const onPath = new Set<number>();
  let visits = 0;
  const step = (node: number): void => {
    if (++visits > MAX_VISITS_PER_ENTRY) return;
    path.push(node);
    onPath.add(node);
    const next = callees[node]!.filter((callee) => !onPath.has(callee));
    next.sort((a, b) => callees[b]!.length - callees[a]!.length || a - b);
    if (next.length === 0 || path.length >= MAX_STEPS) found.push([...path]);
    else for (const callee of next.slice(0, MAX_BRANCHES)) step(callee);
    path.pop();
    onPath.delete(node);
  };
  step(entry);
  const long = found.filter((steps) => steps.length >= MIN_STEPS).sort((a, b) => b.length - a.length);
  const ends = new Set<number>();
  return long.filter((steps) => !ends.has(steps.at(-1)!) && ends.add(steps.at(-1)!)).slice(0, MAX_PATHS_PER_ENTRY);
}

/** Drops flows that are a contiguous part of a longer one. */
function dropContained(paths: number[][]): number[][] {
  const sorted = paths
    .map((steps, order) => ({ steps, order }))
    .sort((a, b) => b.steps.length - a.steps.length || a.order - b.order);
  const seen = new Set<string>();
  const kept: { steps: number[]; order: number }[] = [];
  for (const candidate of sorted) {
    const { steps } = candidate;
    if (seen.has(steps.join())) continue;
    kept.push(candidate);
    for (let i = 0; i < steps.length; i++)
      for (let j = i + MIN_STEPS; j <= steps.length; j++) seen.add(steps.slice(i, j).join());
  }
  return kept.sort((a, b) => a.order - b.order).map((entry) => entry.steps);
}

function describe(graph: CodeGraph, steps: number[], home: Int32Array): Process {
  const homes = new Set(steps.map((node) => home[node]!).filter((community) => community >= 0));
  const shortenName = (node: number) => graph.nodes.qualified.get(node)!.split(".").slice(-2).join(".");
  return {
    node: -1,
    label: `${shortenName(steps[0]!)} → ${shortenName(steps.at(-1)!)}`,
    kind: homes.size > 1 ? "cross_community" : "intra_community",
    steps,
  };
}
