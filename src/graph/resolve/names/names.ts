/**
 * Resolves names: through scopes from the inside out, members of enclosing classes, name spaces, imports and exports.
 */
import { BindingKind, ImportKind, ScopeKind, SymbolFlag } from "../../language/fact-layout.ts";
import type { ImportTarget } from "../../language/language.ts";
import { join, sharedFolders } from "../../language/paths.ts";
import type { BindingRow, ImportRow, NameRow, ScopeRow } from "../../rows.ts";
import { exists, NOTHING } from "../../rows.ts";
import type { Engine, Entity, NameSpaceOf } from "../engine.ts";
import type { Repository } from "../repository.ts";
import type { ValueType } from "../types/value-type.ts";
import { GlobalImports } from "./global-imports.ts";
import { ImplicitMembers } from "./implicit-members.ts";
import { labelsOf } from "./name-labels.ts";
import { ScopeIndexes } from "./scope-indexes.ts";
import { EXTERNAL_ENTITY, type Seen } from "./seen.ts";

const MAX_SCOPES = 200;

const filesOf = (target: ImportTarget): readonly number[] =>
  target.kind === "file" ? [target.file] : target.kind === "files" ? target.files : [];

export class Names {
  private readonly engine: Engine;
  private readonly repo: Repository;
  private readonly indexes: ScopeIndexes;
  private readonly implicitMembers: ImplicitMembers;
  private readonly globalImports: GlobalImports;
  /** Import targets whose path is being followed. */
  private readonly entered = new Set<ImportTarget>();
  /** How the repository's languages name the module files of a folder. */
  private readonly packages: ReadonlySet<{ index: string; ending: string }>;

  constructor(engine: Engine) {
    const { repo } = engine;
    this.engine = engine;
    this.repo = repo;
    this.indexes = new ScopeIndexes(repo);
    this.implicitMembers = new ImplicitMembers(engine);
    this.globalImports = new GlobalImports(repo);
    this.packages = new Set(repo.languages.flatMap(({ rules }) => rules.packages ?? []));
  }

  /** What a name means, given all bindings of that name in one scope. */
  chooseBinding(file: number, rows: readonly BindingRow[], space: NameSpaceOf, seen?: Seen): Entity | undefined {
    const { repo } = this;
    const facts = repo.facts(file);
    let fallback: Entity | undefined;
    for (let i = rows.length - 1; i >= 0; i--) {
      const row = rows[i]!;
      const kind = facts.bindings.kind(row);
      if (kind === BindingKind.Symbol) {
        const symbol = repo.symbolAt(file, facts.bindings.symbol(row));
        const label = repo.label(symbol);
        if (labelsOf(space).has(label) && !(repo.has(symbol, SymbolFlag.Hidden) && rows.length > 1)) {
          // An interface counts as a value only if nothing else of this name is one.
          if (space === "type" || label !== "Interface") return { kind: "symbol", symbol, via: "scope" };
          fallback ??= { kind: "symbol", symbol, via: "scope" };
        } else if (space !== "call")
          // A type alias may be used as a value, in `Alias::member` and `Alias(x)`, if the aliased type can be.
          fallback ??= space === "type" || label === "TypeAlias" ? { kind: "symbol", symbol, via: "scope" } : undefined;
      } else if (kind === BindingKind.Import) {
        const found = this.followImport(file, facts.bindings.importRow(row), space, seen);
        if (found && (found.kind !== "external" || rows.length === 1)) return found;
        fallback ??= found;
        // A name imported from outside hides other declarations of that name.
        if (repo.rules(file).overloads && space !== "call") return EXTERNAL_ENTITY;
      } else if (kind === BindingKind.TypeParameter) {
        if (space === "type") return { kind: "binding", file, binding: rows[i]! };
      } else if (space !== "call") return { kind: "binding", file, binding: rows[i]! };
    }
    return fallback;
  }

  private findInSpaces(file: number, scope: ScopeRow, text: string, space: NameSpaceOf): Entity | undefined {
    const { repo } = this;
    for (const name of this.indexes.spacesOf(file, scope)) {
      for (let within = name; ; ) {
        const found = this.pick(repo.inSpace(within, text, file), space, file);
        if (found) return found;
        const cut = Math.max(within.lastIndexOf("."), within.lastIndexOf("\\"));
        if (!repo.rules(file).parentSpaces || cut <= 0) break;
        within = within.slice(0, cut);
      }
    }
    return undefined;
  }

  /** How near two files are: the number of folders that they share. A file is nearest to itself. */
  private rateNearness(a: number, b: number): number {
    const { repo } = this;
    return a === b ? 9_999 : sharedFolders(repo.pathOf(a), repo.pathOf(b));
  }

  private pick(symbols: readonly number[], space: NameSpaceOf, file: number): Entity | undefined {
    const { repo } = this;
    const wanted = labelsOf(space);
    let found = -1;
    let near = -1;
    for (const symbol of symbols) {
      if (!wanted.has(repo.label(symbol))) continue;
      // A definition goes before its declarations. Among several, the one whose path is most like that of the asking
      // file wins.
      const bodiless = repo.has(symbol, SymbolFlag.Signature) && repo.label(symbol) !== "Method";
      const several = symbols.length > 1;
      const seen = several && repo.rules(file).includes && this.engine.includes.reaches(file, repo.fileOf(symbol));
      const score =
        (seen ? 20_000 : 0) + (bodiless ? 0 : 10_000) + (several ? this.rateNearness(file, repo.fileOf(symbol)) : 0);
      if (score <= near) continue;
      near = score;
      found = symbol;
    }
    return found < 0 ? undefined : { kind: "symbol", symbol: found, via: "scope" };
  }

  findInWildcards(file: number, scope: ScopeRow, text: string, space: NameSpaceOf, asked?: Seen): Entity | undefined {
    const rows = this.indexes.wildcardsOf(file, scope);
    if (rows.length === 0) return undefined;
    const seen = asked ?? new Set();
    for (const row of rows) {
      const target = this.engine.imports.targetOf(file, row);
      // Included files are searched all at once, in includes.ts.
      if (target.kind === "file" && this.repo.rules(file).includes) continue;
      const found = this.findIn(target, text, space, file, seen);
      if (found && found.kind !== "external") return found;
    }
    return undefined;
  }

  private findInGlobalImports(file: number, text: string, space: NameSpaceOf): Entity | undefined {
    for (const { file: from, row } of this.globalImports.holdingIn(file)) {
      const found = this.findIn(this.engine.imports.targetOf(from, row), text, space, from);
      if (found && found.kind !== "external") return found;
    }
    return undefined;
  }

  lookUp(file: number, scope: ScopeRow, name: NameRow, space: NameSpaceOf): Entity | undefined {
    return this.search(file, scope, name, this.repo.facts(file).strings[name]!, space);
  }

  /** @param name row of `text` in the file's strings, or none */
  private search(file: number, scope: ScopeRow, name: NameRow, text: string, space: NameSpaceOf): Entity | undefined {
    const { repo } = this;
    const facts = repo.facts(file);
    const rules = repo.rules(file);
    const isBound = exists(name) && repo.isBound(file, name);
    const isElsewhere = rules.implicitMembers || rules.includes || rules.globalImports || facts.spaces.length > 0;
    if (!isBound && !isElsewhere && !this.indexes.hasWildcards(file)) return undefined;
    for (let at = scope, steps = 0; exists(at) && steps < MAX_SCOPES; steps++) {
      const kind = facts.scopes.kind(at);
      const rows = isBound ? repo.bindingsOf(file, at, name) : NOTHING;
      const own = rows.length > 0 ? this.chooseBinding(file, rows, space) : undefined;
      if (own) return own;
      if (rules.implicitMembers && (kind === ScopeKind.Class || (rules.includes && kind === ScopeKind.Function))) {
        const member = this.implicitMembers.find(file, at, text, space);
        if (member) return member;
      }
      if (facts.spaces.length > 0) {
        const found = this.findInSpaces(file, at, text, space);
        if (found) return found;
      }
      const wild =
        (rules.includes && at === 0 ? this.engine.includes.findIncluded(file, text, space) : undefined) ??
        this.findInWildcards(file, at, text, space) ??
        (rules.globalImports && at === 0 ? this.findInGlobalImports(file, text, space) : undefined);
      if (wild) return wild;
      at = facts.scopes.parent(at);
    }
    return undefined;
  }

  /** Finds a name in the target of an import. */
  findIn(target: ImportTarget, name: string, space: NameSpaceOf, fromFile: number, asked?: Seen): Entity | undefined {
    switch (target.kind) {
      case "external":
        return EXTERNAL_ENTITY;
      case "file":
        return this.engine.exports.findExported(target.file, name, space, asked);
      case "files": {
        const seen = asked ?? new Set();
        for (const file of target.files) {
          const found = this.engine.exports.findExported(file, name, space, seen);
          if (found) return found;
        }
        return undefined;
      }
      case "folder":
        return this.findSubmodule(target.folder, name);
      case "space":
        return this.pick(this.repo.inSpace(target.name, name, fromFile), space, fromFile);
      case "inside":
        return this.findNameInside(target, name, space, fromFile, asked);
    }
  }

  /** Finds a module by its name in a folder. */
  findSubmodule(folder: string, name: string): Entity | undefined {
    const { project } = this.engine;
    const inside = join(folder, name);
    for (const { index, ending } of this.packages)
      for (const path of [join(inside, index), inside + ending]) {
        const file = project.fileAt(path);
        if (file >= 0) return { kind: "type", type: { kind: "module", files: [file] } };
      }
    if (!project.folderExists(inside)) return undefined;
    return { kind: "type", type: { kind: "module", files: [], folder: inside } };
  }

  /** The class or module that an `inside` target leads to. */
  private resolveInside(target: ImportTarget & { kind: "inside" }, fromFile: number): ValueType | undefined {
    // The path of an import may begin with the name that the import itself binds.
    if (this.entered.has(target)) return undefined;
    this.entered.add(target);
    const type = this.findInside(target, fromFile);
    this.entered.delete(target);
    return type;
  }

  private findInside(target: ImportTarget & { kind: "inside" }, fromFile: number): ValueType | undefined {
    const { engine } = this;
    const [first = "", ...rest] = target.path;
    const outer: ImportTarget =
      target.file >= 0 ? { kind: "file", file: target.file } : { kind: "space", name: target.space };
    const entity = this.findIn(outer, first, "type", fromFile) ?? this.findIn(outer, first, "value", fromFile);
    let type = entity?.kind === "symbol" ? engine.types.typeOfSymbol(entity.symbol) : engine.types.typeOfEntity(entity);
    for (const part of rest) type = engine.members.typeOfMember(type, part);
    return type;
  }

  private findNameInside(
    target: ImportTarget & { kind: "inside" },
    name: string,
    space: NameSpaceOf,
    fromFile: number,
    seen?: Seen,
  ): Entity | undefined {
    const { repo } = this;
    const type = this.resolveInside(target, fromFile);
    if (!type) return undefined;
    if (type.kind === "external") return EXTERNAL_ENTITY;
    if (type.kind === "module") return this.findIn({ kind: "files", files: type.files }, name, space, fromFile, seen);
    if (type.kind === "space") return this.pick(repo.inSpace(type.name, name, fromFile), space, fromFile);
    const wanted = labelsOf(space);
    const found = this.engine.members
      .find(type, name, 0, space === "call" ? true : undefined)
      .members.find((member) => wanted.has(repo.label(member.symbol)));
    return found ? { kind: "symbol", symbol: found.symbol, via: "import" } : undefined;
  }

  toModule(target: ImportTarget, fromFile: number): Entity {
    switch (target.kind) {
      case "inside": {
        const type = this.resolveInside(target, fromFile);
        return type ? { kind: "type", type } : EXTERNAL_ENTITY;
      }
      case "external":
        return EXTERNAL_ENTITY;
      case "file":
        return { kind: "type", type: { kind: "module", files: [target.file] } };
      case "files":
        return { kind: "type", type: { kind: "module", files: target.files } };
      case "folder":
        return { kind: "type", type: { kind: "module", files: [], folder: target.folder } };
      case "space":
        return { kind: "type", type: { kind: "space", name: target.name } };
    }
  }

  private markImported(entity: Entity | undefined): Entity | undefined {
    return entity?.kind === "symbol" && entity.via !== "import"
      ? { kind: "symbol", symbol: entity.symbol, via: "import" }
      : entity;
  }

  followImport(file: number, row: ImportRow, space: NameSpaceOf, seen?: Seen): Entity | undefined {
    const facts = this.repo.facts(file);
    const kind = facts.imports.kind(row);
    const name = facts.strings[facts.imports.name(row)]!;
    const target = this.engine.imports.targetOf(file, row);
    if (kind === ImportKind.Module || kind === ImportKind.Path) {
      const entity = this.toModule(target, file);
      if (kind === ImportKind.Module) {
        // A CommonJS module that exports one value stands for that value.
        const value = filesOf(target).length > 0 ? this.findIn(target, "=", space, file, seen) : undefined;
        if (value && value.kind !== "external") return this.markImported(value);
      }
      return entity;
    }
    const found = this.markImported(this.findIn(target, name, space, file, seen));
    // A default import of a CommonJS module, which has no default export, imports the module itself.
    return !found && name === "default" && this.isCommonJs(target) ? this.toModule(target, file) : found;
  }

  private isCommonJs(target: ImportTarget): boolean {
    return filesOf(target).some((file) => this.engine.exports.isCommonJs(file));
  }

  /** Finds a name by its text, from a scope outwards. It is used for modules that are written inside a file. */
  findInModule(file: number, scope: ScopeRow, text: string, space: NameSpaceOf): Entity | undefined {
    return this.search(file, scope, this.repo.stringRow(file, text), text, space);
  }
}
