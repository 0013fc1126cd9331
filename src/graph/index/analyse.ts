/** From facts to edges, in memory: resolution of one repository, file by file. */
import type { CodeGraph } from "../code-graph.ts";
import { createProjectFiles } from "../language/project-files.ts";
import { createEdgeFinder, type RawEdge } from "../resolve/calls/edges.ts";
import type { Engine } from "../resolve/engine.ts";
import { createUniqueNames } from "../resolve/names/unique-names.ts";
import { Repository, type SourceFile } from "../resolve/repository.ts";
import { createEngine } from "../resolve/resolver.ts";
import { addFoundEdges, addStructure, GraphBuilder } from "./structure.ts";

interface AnalyseInput {
  files: readonly SourceFile[];
  configs: readonly string[];
  readConfig(path: string): string | undefined;
}

export interface Resolution {
  repo: Repository;
  engine: Engine;
  /** The edges that leave a file. */
  edgesOf(file: number): RawEdge[];
}

/** Prepares the resolution of a repository; ask `edgesOf` for each file, in any order. */
export function resolveFiles(input: AnalyseInput): Resolution {
  const repo = new Repository(input.files);
  const project = createProjectFiles({
    paths: input.files.map((file) => file.path),
    configs: input.configs,
    readConfig: input.readConfig,
    spaceExists: (name) => repo.spaceExists(name),
  });
  const engine = createEngine(repo, project);
  const finder = createEdgeFinder(engine, createUniqueNames(repo));
  return {
    repo,
    engine,
    edgesOf(file) {
      const found: RawEdge[] = [];
      finder.edgesOf(file, found);
      return found;
    },
  };
}

/** Structure and resolved edges of a repository in one go. */
export function analyse(input: AnalyseInput): CodeGraph {
  const resolution = resolveFiles(input);
  const builder = new GraphBuilder();
  const symbolNodes = addStructure(builder, resolution.repo);
  for (let file = 0; file < input.files.length; file++) addFoundEdges(builder, resolution.edgesOf(file), symbolNodes);
  return builder.finish();
}
