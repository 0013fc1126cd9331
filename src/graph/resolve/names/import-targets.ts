/** Where imports lead: asked of the importing file's language, once for each import. */
import type { ImportResolver, ImportTarget } from "../../language/language.ts";
import type { ImportRow } from "../../rows.ts";
import type { Engine } from "../engine.ts";

export class ImportTargets {
  private readonly engine: Engine;
  /** By language. */
  private readonly resolvers = new Map<string, ImportResolver>();
  /** By file and row. */
  private readonly targets: (ImportTarget | undefined)[][] = [];

  constructor(engine: Engine) {
    this.engine = engine;
  }

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
    const language = this.engine.repo.language(file);
    const known = this.resolvers.get(language.id);
    if (known) return known;
    const resolver = language.createResolver(this.engine.project);
    this.resolvers.set(language.id, resolver);
    return resolver;
  }
}
