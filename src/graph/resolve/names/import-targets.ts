/** Resolves imports. Each import is resolved once, by the importing file's language. */
import type { ImportResolver, ImportTarget, LanguageModule } from "../../language/language.ts";
import type { ImportRow } from "../../rows.ts";
import type { Engine } from "../engine.ts";

/** Import resolvers by the function that creates them. Several languages may share one. */
export type ImportResolvers = Map<LanguageModule["createResolver"], ImportResolver>;

export class ImportTargets {
  /** Resolved targets by file and row. */
  private readonly targets: (ImportTarget | undefined)[][] = [];

  constructor(
    private readonly engine: Engine,
    private readonly resolvers: ImportResolvers,
  ) {}

  targetOf(file: number, row: ImportRow): ImportTarget {
    this.targets[file] ??= [];
    const known = this.targets[file][row];
    if (known) return known;
    const { imports, strings } = this.engine.repo.facts(file);
    const target = this.resolverOf(file).resolve(strings[imports.module(row)]!, strings[imports.name(row)]!, file);
    this.targets[file][row] = target;
    return target;
  }

  private resolverOf(file: number): ImportResolver {
    const { createResolver } = this.engine.repo.files[file]!.language;
    const known = this.resolvers.get(createResolver);
    if (known) return known;
    const resolver = createResolver(this.engine.project);
    this.resolvers.set(createResolver, resolver);
    return resolver;
  }
}
