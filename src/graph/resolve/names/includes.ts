/**
 * For languages with includes: the names that included files declare, and the definitions of declarations.
 *
 * An include pastes text, so a file sees everything that the files it reaches declare. A name is first looked up in one
 * index of the repository. Only if it is found, the files that the including file reaches are computed. So an
 * undeclared name costs nothing, however many headers there are.
 */

import { BindingKind, ImportKind, SymbolFlag } from "../../language/fact-layout.ts";
import { sharedFolders } from "../../language/paths.ts";
import { rowAfter } from "../../rows.ts";
import type { Engine, Entity, NameSpaceOf } from "../engine.ts";
import { pushTo, type Repository } from "../repository.ts";

const TYPES = new Set(["Class", "Struct", "Enum", "TypeAlias", "Namespace"]);
const MAX_REACHED = 4_000;

export class Includes {
  private readonly repo: Repository;
  /** For each file, the files that it includes, directly or indirectly. The file itself is one of them. */
  private readonly reached: (ReadonlySet<number> | undefined)[] = [];
  /** Top-level symbols of files that can be included, by name. */
  private topNames: Map<string, number[]> | undefined;
  /** Definitions by declaration; -1 if there is none. */
  private readonly definitions = new Map<number, number>();

  constructor(private readonly engine: Engine) {
    this.repo = engine.repo;
  }

  /** Builds the index of top-level symbols of files that can be included. */
  private indexNames(): Map<string, number[]> {
    const { repo } = this;
    if (this.topNames) return this.topNames;
    this.topNames = new Map();
    for (let file = 0; file < repo.files.length; file++) {
      if (!repo.rules(file).includes) continue;
      const { bindings, strings } = repo.facts(file);
      for (let row = bindings.first; row < bindings.length; row = rowAfter(row)) {
        if (bindings.scope(row) !== 0 || bindings.kind(row) !== BindingKind.Symbol) continue;
        pushTo(this.topNames, strings[bindings.name(row)]!, repo.symbolAt(file, bindings.symbol(row)));
      }
    }
    return this.topNames;
  }

  /** The files that a file includes, directly or indirectly, and the file itself. */
  private reach(file: number): ReadonlySet<number> {
    const known = this.reached[file];
    if (known) return known;
    const found = new Set<number>([file]);
    for (const next of found) {
      if (found.size > MAX_REACHED) break;
      const { imports } = this.repo.facts(next);
      for (let row = imports.first; row < imports.length; row = rowAfter(row)) {
        if (imports.kind(row) !== ImportKind.Wildcard) continue;
        const target = this.engine.imports.targetOf(next, row);
        if (target.kind === "file") found.add(target.file);
      }
    }
    this.reached[file] = found;
    return found;
  }

  private fits(symbol: number, space: NameSpaceOf): boolean {
    const label = this.repo.label(symbol);
    return space === "type" ? TYPES.has(label) : label !== "TypeAlias";
  }

  /** The symbol that a name means among those which the included files declare. */
  findIncluded(file: number, name: string, space: NameSpaceOf): Entity | undefined {
    const { repo } = this;
    const candidates = this.indexNames().get(name);
    if (!candidates) return undefined;
    const seen = this.reach(file);
    let best = -1;
    for (const symbol of candidates) {
      if (!this.fits(symbol, space) || !seen.has(repo.fileOf(symbol))) continue;
      // A definition goes before a declaration, and a complete type before an incomplete one.
      if (best < 0 || (repo.has(best, SymbolFlag.Signature) && !repo.has(symbol, SymbolFlag.Signature))) best = symbol;
    }
    if (best < 0) return undefined;
    return { kind: "symbol", symbol: best, via: repo.fileOf(best) === file ? "scope" : "import" };
  }

  /**
   * Rates how likely a definition in one file belongs to a declaration in the other: by shared folders, then by equal
   * names.
   */
  private rateLikeness(a: number, b: number): number {
    const { repo } = this;
    const left = repo.pathOf(a);
    const right = repo.pathOf(b);
    const dropExtension = (path: string) => path.replace(/\.\w+$/, "");
    const toBaseName = (path: string) => dropExtension(path).slice(path.lastIndexOf("/") + 1);
    return (
      sharedFolders(left, right) * 4 +
      (dropExtension(left) === dropExtension(right) ? 3 : toBaseName(left) === toBaseName(right) ? 2 : 0)
    );
  }

  /** The definition of a declaration without a body; -1 if there is none. */
  definitionOf(symbol: number): number {
    const known = this.definitions.get(symbol);
    if (known !== undefined) return known;
    const found = this.findDefinition(symbol);
    this.definitions.set(symbol, found);
    return found;
  }

  private findDefinition(symbol: number): number {
    const { repo } = this;
    const home = repo.fileOf(symbol);
    if (!repo.rules(home).includes || !repo.has(symbol, SymbolFlag.Signature)) return -1;
    const spaces = repo.spacesAt(home, repo.column(symbol, "scope"));
    const all =
      spaces.length > 0
        ? spaces.flatMap((space) => repo.inSpace(space, repo.name(symbol), home))
        : (this.indexNames().get(repo.name(symbol)) ?? []);
    const bodies = all.filter((other) => {
      if (repo.has(other, SymbolFlag.Signature) || repo.label(other) !== "Function") return false;
      if (repo.column(other, "arity") !== repo.column(symbol, "arity") && all.length > 2) return false;
      return !repo.has(other, SymbolFlag.FileLocal) || repo.fileOf(other) === home;
    });
    if (bodies.length < 2) return bodies[0] ?? -1;
    // Several programs in one repository may define the same name. The nearest definition is taken, if one is nearest.
    const ranked = bodies
      .map((other) => ({ other, near: this.rateLikeness(home, repo.fileOf(other)) }))
      .sort((a, b) => b.near - a.near);
    return ranked[0]!.near > ranked[1]!.near || repo.fileOf(ranked[0]!.other) === repo.fileOf(ranked[1]!.other)
      ? ranked[0]!.other
      : -1;
  }

  /** Whether a file includes another one, directly or indirectly. A file counts as including itself. */
  reaches(file: number, other: number): boolean {
    return this.reach(file).has(other);
  }
}
