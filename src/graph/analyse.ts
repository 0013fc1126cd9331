/** From facts to a graph, in memory: structure and resolution of one repository. */
import type { CodeGraph } from "./code-graph.ts";
import { createProjectFiles } from "./parse/project-files.ts";
import { createEdgeFinder, type RawEdge } from "./resolve/edges.ts";
import { Repository, type SourceFile } from "./resolve/repository.ts";
import { createEngine } from "./resolve/resolver.ts";
import { createUniqueNames } from "./resolve/unique-names.ts";
import { addFoundEdges, addStructure, GraphBuilder } from "./structure.ts";

export interface AnalyseInput {
  files: readonly SourceFile[];
  configs: readonly string[];
  readConfig(path: string): string | undefined;
}

/** Resolves every file; `progress` is told how many files are done. */
export function analyse(input: AnalyseInput, progress?: (done: number) => void): CodeGraph {
  const repo = new Repository(input.files);
  const project = createProjectFiles({
    paths: input.files.map((file) => file.path),
    configs: input.configs,
    readConfig: input.readConfig,
    spaceExists: (name) => repo.spaceExists(name),
  });
  const engine = createEngine(repo, project);
  const finder = createEdgeFinder(engine, createUniqueNames(repo));
  const found: RawEdge[] = [];
  for (let file = 0; file < input.files.length; file++) {
    finder.edgesOf(file, found);
    progress?.(file + 1);
  }
  const builder = new GraphBuilder();
  const symbolNodes = addStructure(builder, repo);
  addFoundEdges(builder, found, symbolNodes);
  return builder.finish();
}
