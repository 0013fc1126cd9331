/** From facts to edges, in memory: resolution of one repository, file by file. */
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

export interface Resolution {
  repo: Repository;
  /** Edges found so far. */
  found: RawEdge[];
  /** Finds the edges that leave a file. */
  resolve(file: number): void;
}

/** Prepares the resolution of a repository; call `resolve` for each file. */
export function resolveFiles(input: AnalyseInput): Resolution {
  const repo = new Repository(input.files);
  const project = createProjectFiles({
    paths: input.files.map((file) => file.path),
    configs: input.configs,
    readConfig: input.readConfig,
    spaceExists: (name) => repo.spaceExists(name),
  });
  const finder = createEdgeFinder(createEngine(repo, project), createUniqueNames(repo));
  const found: RawEdge[] = [];
  return { repo, found, resolve: (file) => finder.edgesOf(file, found) };
}

/** Structure and resolved edges of a repository in one go. */
export function analyse(input: AnalyseInput): CodeGraph {
  const resolution = resolveFiles(input);
  for (let file = 0; file < input.files.length; file++) resolution.resolve(file);
  const builder = new GraphBuilder();
  addFoundEdges(builder, resolution.found, addStructure(builder, resolution.repo));
  return builder.finish();
}
