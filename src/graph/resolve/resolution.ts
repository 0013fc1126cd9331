/**
 * The resolution of one repository: facts of all files → edges. The fields are its phases in their order, each made of
 * facts and of the fields above it. README.md says what each phase reads and writes.
 */
import type { ProjectFiles } from "../language/language.ts";
import { createProjectFiles } from "../language/project-files.ts";
import { EdgeFinder, type RawEdge } from "./calls/edges.ts";
import { Engine } from "./engine.ts";
import { UniqueNames } from "./names/unique-names.ts";
import { Repository, type SourceFile } from "./repository.ts";

export interface ResolutionInput {
  files: readonly SourceFile[];
  /** Paths of configuration files, and their texts. */
  configs: readonly string[];
  readConfig(path: string): string | undefined;
}

export class Resolution {
  readonly repo: Repository;
  readonly project: ProjectFiles;
  readonly engine: Engine;
  readonly unique: UniqueNames;
  private readonly finder: EdgeFinder;

  constructor({ files, configs, readConfig }: ResolutionInput) {
    const repo = new Repository(files);
    this.repo = repo;
    this.project = createProjectFiles({
      paths: files.map((file) => file.path),
      configs,
      readConfig,
      spaceExists: (name) => repo.spaceExists(name),
    });
    this.engine = new Engine(repo, this.project);
    this.unique = new UniqueNames(repo);
    this.finder = new EdgeFinder(this.engine, this.unique);
  }

  /** The edges that leave a file; ask for files in any order. */
  edgesOf(file: number): RawEdge[] {
    return this.finder.edgesOf(file);
  }
}
