/** Adds clusters and flows to a graph, as nodes. */
import type { CodeGraph, Community, Process } from "../code-graph.ts";
import { findCommunities } from "./cluster.ts";
import { findProcesses } from "./flows.ts";
import type { Phases } from "./phases.ts";
import { GraphBuilder } from "./structure.ts";

export interface Groups {
  communities: Community[];
  processes: Process[];
}

/** Finds the clusters and flows of a graph that has none yet. */
export function findGroups(structure: CodeGraph, phases?: Phases): Groups {
  phases?.start("community_detection", 1);
  const communities = findCommunities(structure);
  phases?.end("community_detection");
  phases?.start("process_discovery", 1);
  return { communities, processes: findProcesses(structure, communities) };
}

/** A graph of the builder's nodes and edges, with clusters and flows added. The builder itself does not change. */
export function finishWith(builder: GraphBuilder, { communities, processes }: Groups): CodeGraph {
  const first = builder.nodes.label.length;
  const more = new GraphBuilder();
  const members = communities.reduce((sum, one) => sum + one.members.length, 0);
  more.reserveEdges(processes.reduce((sum, { steps }) => sum + steps.length, members));
  for (const [i, community] of communities.entries()) {
    community.node = first + more.addNode("Community", community.label, String(i + 1), -1);
    for (const member of community.members) more.addEdge("BELONGS_TO", member, community.node);
  }
  for (const [i, process] of processes.entries()) {
    process.node = first + more.addNode("Process", process.label, String(i + 1), -1);
    for (const [step, node] of process.steps.entries()) more.addEdge("PARTICIPATES_IN", node, process.node, step + 1);
  }
  const graph = builder.finishWith(more);
  graph.communities = communities;
  graph.processes = processes;
  return graph;
}
