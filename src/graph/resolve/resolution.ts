/**
 * The resolution of one repository: from the facts of all files to edges. The fields are its phases, in order. Each is
 * made of facts and of the fields above it. README.md says what each phase reads and writes.
 */
import type { ProjectFiles } from "../language/language.ts";
import { createProjectFiles } from "../language/project-files.ts";
import { EdgeFinder, type RawEdge } from "./calls/edges.ts";
import { Engine } from "./engine.ts";
import type { ImportResolvers } from "./names/import-targets.ts";
import { createSymbolsNamed, type SymbolsNamed } from "./names/symbols-named.ts";
import { UniqueNames } from "./names/unique-names.ts";
import { Repository, type SourceFile } from "./repository.ts";

export interface ResolutionInput {
  files: readonly SourceFile[];
  /** Paths of configuration files; `readConfig` gives their texts. */
  configs: readonly string[];
  readConfig(path: string): string | undefined;
  /** Finds symbols by name, if the caller can do so without reading all files. */
  symbolsNamed?: SymbolsNamed;
}

export class Resolution {
  readonly repo: Repository;
  private readonly spaces: { repo: Repository };
  readonly project: ProjectFiles;
  private readonly resolvers: ImportResolvers;
  readonly engine: Engine;
  readonly unique: UniqueNames;
  private readonly finder: EdgeFinder;

  /**
   * @param before the resolution before an edit that changed neither the list of files nor the configuration of
   * imports. Parts that the edit does not affect are reused. It must not be asked any more.
   */
  constructor({ files, configs, readConfig, symbolsNamed }: ResolutionInput, before?: Resolution) {
    this.repo = new Repository(files, before?.repo);
    const kept = before && this.repo.hasSpacesOf(before.repo) ? before : undefined;
    const spaces = kept?.spaces ?? { repo: this.repo };
    // Reused parts must not keep the repository from before the edit in memory.
    spaces.repo = this.repo;
    this.spaces = spaces;
    const spaceExists = (name: string) => spaces.repo.spaceExists(name);
    this.project =
      kept?.project ?? createProjectFiles({ paths: files.map(({ path }) => path), configs, readConfig, spaceExists });
    this.resolvers = kept?.resolvers ?? new Map();
    this.engine = new Engine(this.repo, this.project, this.resolvers);
    this.unique = new UniqueNames(this.repo, symbolsNamed ?? createSymbolsNamed(this.repo));
    this.finder = new EdgeFinder(this.engine, this.unique);
  }

  /** The edges that leave a file. Files may be asked for in any order. */
  edgesOf(file: number): RawEdge[] {
    return this.finder.edgesOf(file);
  }

  /**
   * Forgets what was remembered of a file that others seldom ask for: the types of its expressions and bindings. They are
   * a third of all objects that an index remembers. Call it when the file's edges are found.
   */
  forget(file: number): void {
    this.engine.expressions.forgetFile(file);
    this.engine.types.forgetFile(file);
  }
}
