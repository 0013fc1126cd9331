/** Makes a graph from facts, in memory. */
import type { CodeGraph } from "../code-graph.ts";
import { Resolution, type ResolutionInput } from "../resolve/resolution.ts";
import { addFoundEdges, addStructure, GraphBuilder } from "./structure.ts";

/** Builds the structure and the resolved edges of a repository in one pass. */
export function analyse(input: ResolutionInput): CodeGraph {
  const resolution = new Resolution(input);
  const builder = new GraphBuilder();
  const symbolNodes = addStructure(builder, resolution.repo);
  for (let file = 0; file < input.files.length; file++) addFoundEdges(builder, resolution.edgesOf(file), symbolNodes);
  return builder.finish();
}
