/** Clusters and flows as nodes of the graph. */
import type { CodeGraph, Community, Process } from "../code-graph.ts";
import { findCommunities } from "./cluster.ts";
import { findProcesses } from "./flows.ts";
import type { Phases } from "./phases.ts";
import type { GraphBuilder } from "./structure.ts";

export interface Groups {
  communities: Community[];
  processes: Process[];
}

/** The clusters and flows of a graph that has none yet. */
export function findGroups(structure: CodeGraph, phases?: Phases): Groups {
  phases?.start("community_detection", 1);
  const communities = findCommunities(structure);
  phases?.end("community_detection");
  phases?.start("process_discovery", 1);
  return { communities, processes: findProcesses(structure, communities) };
}

/** Adds them to what has none yet, and finishes the graph. */
export function finishWith(builder: GraphBuilder, { communities, processes }: Groups): CodeGraph {
  for (const [i, community] of communities.entries()) {
    community.node = builder.addNode("Community", community.label, String(i + 1), -1);
    for (const member of community.members) builder.addEdge("BELONGS_TO", member, community.node);
  }
  for (const [i, process] of processes.entries()) {
    process.node = builder.addNode("Process", process.label, String(i + 1), -1);
    for (const [step, node] of process.steps.entries())
      builder.addEdge("PARTICIPATES_IN", node, process.node, step + 1);
  }
  const graph = builder.finish();
  graph.communities = communities;
  graph.processes = processes;
  return graph;
}
