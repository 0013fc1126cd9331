/** Resolves what a file exports: its list of exports or, in languages without lists, all its top-level names. */
import { ExportKind, SymbolFlag } from "../../language/fact-layout.ts";
import { basename, dirname } from "../../language/paths.ts";
import { FILE_SCOPE, isNone } from "../../rows.ts";
import type { Engine, Entity, NameSpaceOf } from "../engine.ts";
import { FileIndex } from "../file-index.ts";
import { pushTo, type Repository } from "../repository.ts";
import { EXTERNAL_ENTITY, type Seen } from "./seen.ts";

/** The key of rows that re-export all of another module. No name contains NUL. */
const STAR = "\u0000";

const SPACES: readonly NameSpaceOf[] = ["value", "type", "call"];

export class Exports {
  private readonly repo: Repository;
  /** Resolved exports by name, then by file and space; null if there is none. */
  private readonly exportCache = new Map<string, Map<number, Entity | null>>();
  /** Export rows of a file, by name. */
  private readonly exports = new FileIndex((file) => this.indexExports(file));

  constructor(private readonly engine: Engine) {
    this.repo = engine.repo;
  }

  /** What a name means to another file. */
  findExport(file: number, name: string, space: NameSpaceOf): Entity | undefined {
    return this.findExported(file, name, space);
  }

  /** Like `findExport`, but only through the file's own list of exports, without members of a whole export. */
  findOwnExport(file: number, name: string, space: NameSpaceOf): Entity | undefined {
    return this.repo.rules(file).exportLists ? this.searchOwnExports(file, name, space, new Set()) : undefined;
  }

  /** Whether a file exports one value as a whole: `module.exports = …`. */
  isGivenWhole(file: number): boolean {
    return this.repo.rules(file).exportLists && this.exports.of(file).has("=");
  }

  private indexExports(file: number): Map<string, number[]> {
    const index = new Map<string, number[]>();
    const { exports, strings } = this.repo.facts(file);
    for (let row = 0; row < exports.length; row++)
      pushTo(index, exports.kind(row) === ExportKind.Star ? STAR : strings[exports.name(row)]!, row);
    return index;
  }

  /** Like `findExport`, with the names that are being followed, as re-exports may form a circle. */
  findExported(file: number, name: string, space: NameSpaceOf, asked?: Seen): Entity | undefined {
    const place = file * SPACES.length + SPACES.indexOf(space);
    const cached = this.exportCache.get(name)?.get(place);
    if (cached !== undefined) return cached ?? undefined;
    const seen = asked ?? new Set();
    const key = `${place}\n${name}`;
    if (seen.has(key)) return undefined;
    seen.add(key);
    const found = this.repo.rules(file).exportLists
      ? this.searchExportList(file, name, space, seen)
      : this.searchTop(file, name, space, seen);
    // A miss inside of a circle may depend on where the circle was entered, so it is not kept.
    if (found || seen.size === 1) this.remember(name, place, found ?? null);
    return found;
  }

  private remember(name: string, place: number, found: Entity | null): void {
    const places = this.exportCache.get(name);
    if (places) places.set(place, found);
    else this.exportCache.set(name, new Map([[place, found]]));
  }

  private searchExportList(file: number, name: string, space: NameSpaceOf, seen: Seen): Entity | undefined {
    const { engine } = this;
    const index = this.exports.of(file);
    const own = this.searchOwnExports(file, name, space, seen);
    if (own) return own;
    if (name !== "default" && name !== "=") {
      for (const row of index.get(STAR) ?? []) {
        const target = engine.imports.targetOf(file, this.repo.facts(file).exports.importRow(row));
        if (target.kind === "external") continue;
        const found = this.engine.names.findIn(target, name, space, file, seen);
        if (found) return found;
      }
    }
    if (name === "=") return undefined;
    const whole = index.get("=");
    if (!whole) return undefined;
    const value = this.resolveExport(file, whole[0]!, space, seen);
    if (name === "default") return value;
    const search = engine.members.find(engine.types.typeOfEntity(value), name);
    return search.members[0] ? { kind: "symbol", symbol: search.members[0].symbol, via: "import" } : undefined;
  }

  private searchOwnExports(file: number, name: string, space: NameSpaceOf, seen: Seen): Entity | undefined {
    for (const row of this.exports.of(file).get(name) ?? []) {
      const found = this.resolveExport(file, row, space, seen);
      if (found) return found;
    }
    return undefined;
  }

  private resolveExport(file: number, row: number, space: NameSpaceOf, seen: Seen): Entity | undefined {
    const { engine, repo } = this;
    const facts = repo.facts(file);
    const from = facts.exports.from(row);
    const importRow = facts.exports.importRow(row);
    switch (facts.exports.kind(row)) {
      case ExportKind.Local: {
        const rows = repo.bindingsOf(file, FILE_SCOPE, from);
        return rows.length > 0 ? this.engine.names.chooseBinding(file, rows, space, seen) : undefined;
      }
      case ExportKind.ReExport:
        return this.engine.names.findIn(
          engine.imports.targetOf(file, importRow),
          facts.strings[from]!,
          space,
          file,
          seen,
        );
      case ExportKind.Module:
        return this.engine.names.toModule(engine.imports.targetOf(file, importRow), file);
      case ExportKind.Value: {
        const type = engine.expressions.typeAt(file, facts.exports.value(row));
        if (!type) return undefined;
        if (type.kind === "external") return EXTERNAL_ENTITY;
        if (type.kind === "function" || type.kind === "class")
          return { kind: "symbol", symbol: type.symbol, via: "scope" };
        return { kind: "type", type };
      }
      default:
        return undefined;
    }
  }

  /** Whether a file exports by assignment and has no default export. */
  isCommonJs(file: number): boolean {
    const { repo } = this;
    if (repo.facts(file).exports.kind(0) !== ExportKind.Value) return false;
    return repo.rules(file).exportLists && !this.exports.of(file).has("default");
  }

  /** For languages without export lists: finds a top-level name, or a name that the file itself imported. */
  private searchTop(file: number, name: string, space: NameSpaceOf, seen: Seen): Entity | undefined {
    const { repo } = this;
    const row = repo.stringRow(file, name);
    const rows = isNone(row) ? [] : repo.bindingsOf(file, FILE_SCOPE, row);
    const found = rows.length > 0 ? this.engine.names.chooseBinding(file, rows, space, seen) : undefined;
    if (found?.kind === "symbol" && repo.has(found.symbol, SymbolFlag.FileLocal)) return undefined;
    if (found) return found;
    const wild = this.engine.names.findInWildcards(file, FILE_SCOPE, name, space, seen);
    if (wild) return wild;
    const { path, language } = repo.files[file]!;
    return basename(path) === language.rules.packages?.index
      ? this.engine.names.findSubmodule(dirname(path), name)
      : undefined;
  }
}
