/** What a name stands for: scopes outwards, members of enclosing classes, name spaces, imports, exports. */
import { BindingKind, ExportKind, ImportKind, ScopeKind, SymbolFlag } from "../../language/fact-layout.ts";
import type { ImportTarget } from "../../language/language.ts";
import { basename, dirname, join } from "../../language/paths.ts";
import type { BindingRow, ImportRow, NameRow, ScopeRow } from "../../rows.ts";
import { exists, FILE_SCOPE, isNone } from "../../rows.ts";
import type { Engine, Entity, NameSpaceOf } from "../engine.ts";
import type { ValueType } from "../types/value-type.ts";
import { createGlobalImports } from "./global-imports.ts";
import { createImplicitMembers } from "./implicit-members.ts";
import { labelsOf } from "./name-labels.ts";
import { sharedFolders } from "./nearness.ts";
import { createScopeIndexes } from "./scope-indexes.ts";

const EXTERNAL_ENTITY: Entity = { kind: "external" };
const MAX_SCOPES = 200;

const filesOf = (target: ImportTarget): readonly number[] =>
  target.kind === "file" ? [target.file] : target.kind === "files" ? target.files : [];

type Names = Pick<Engine, "lookup" | "inModule" | "exported" | "exportedRow" | "followImport" | "submodule">;
/** What was asked on the way: names may lead in a circle. */
type Seen = Set<string>;

export function createNames(engine: Engine): Names {
  const { repo } = engine;
  const exportCache = new Map<string, Entity | null>();
  const exportIndexes: (Map<string, number[]> | undefined)[] = [];
  const starRows: number[][] = [];
  const indexes = createScopeIndexes(repo);
  const implicitMember = createImplicitMembers(engine);
  const globalImports = createGlobalImports(repo);
  const entered = new Set<ImportTarget>();
  const packages = new Set(repo.files.flatMap(({ language }) => language.rules.packages ?? []));

  /** The binding that a name means among those of one scope, or undefined. */
  function choose(file: number, rows: readonly BindingRow[], space: NameSpaceOf, seen?: Seen): Entity | undefined {
    const facts = repo.facts(file);
    let fallback: Entity | undefined;
    for (let i = rows.length - 1; i >= 0; i--) {
      const row = rows[i]!;
      const kind = facts.bindings.kind(row);
      if (kind === BindingKind.Symbol) {
        const symbol = repo.base[file]! + facts.bindings.symbol(row);
        const label = repo.label(symbol);
        if (labelsOf(space).has(label) && !(repo.has(symbol, SymbolFlag.Hidden) && rows.length > 1)) {
          // An interface is a value only where nothing else of the name is one.
          if (space === "type" || label !== "Interface") return { kind: "symbol", symbol, via: "scope" };
          fallback ??= { kind: "symbol", symbol, via: "scope" };
        } else if (space !== "call")
          // `Alias::member`, `Alias(x)`: what an alias stands for is a value where that is one.
          fallback ??= space === "type" || label === "TypeAlias" ? { kind: "symbol", symbol, via: "scope" } : undefined;
      } else if (kind === BindingKind.Import) {
        const found = followImport(file, facts.bindings.importRow(row), space, seen);
        if (found && (found.kind !== "external" || rows.length === 1)) return found;
        fallback ??= found;
        // An imported name from outside the repository hides other declarations of that name.
        if (repo.rules(file).overloads && space !== "call") return EXTERNAL_ENTITY;
      } else if (kind === BindingKind.TypeParameter) {
        if (space === "type") return { kind: "binding", file, binding: rows[i]! };
      } else if (space !== "call") return { kind: "binding", file, binding: rows[i]! };
    }
    return fallback;
  }

  function inSpaces(file: number, scope: ScopeRow, text: string, space: NameSpaceOf): Entity | undefined {
    for (const name of indexes.spaces(file, scope)) {
      for (let within = name; ; ) {
        const found = pick(repo.inSpace(within, text, file), space, file);
        if (found) return found;
        const cut = Math.max(within.lastIndexOf("."), within.lastIndexOf("\\"));
        if (!repo.rules(file).parentSpaces || cut <= 0) break;
        within = within.slice(0, cut);
      }
    }
    return undefined;
  }

  /** How near two files are; a file is nearest to itself. */
  const likeness = (a: number, b: number): number =>
    a === b ? 9_999 : sharedFolders(repo.files[a]!.path, repo.files[b]!.path);

  function pick(symbols: readonly number[], space: NameSpaceOf, file: number): Entity | undefined {
    const wanted = labelsOf(space);
    let found = -1;
    let near = -1;
    for (const symbol of symbols) {
      if (!wanted.has(repo.label(symbol))) continue;
      // A definition goes before its declarations; of several, the one whose path is most like that of the asking
      // file.
      const bodiless = repo.has(symbol, SymbolFlag.Signature) && repo.label(symbol) !== "Method";
      const several = symbols.length > 1;
      const seen = several && repo.rules(file).includes && engine.reaches(file, repo.fileOf(symbol));
      const score = (seen ? 20_000 : 0) + (bodiless ? 0 : 10_000) + (several ? likeness(file, repo.fileOf(symbol)) : 0);
      if (score <= near) continue;
      near = score;
      found = symbol;
    }
    return found < 0 ? undefined : { kind: "symbol", symbol: found, via: "scope" };
  }

  function inWildcards(
    file: number,
    scope: ScopeRow,
    text: string,
    space: NameSpaceOf,
    seen: Seen,
  ): Entity | undefined {
    for (const row of indexes.wildcards(file, scope)) {
      const target = engine.importTarget(file, row);
      // Included files are seen all at once: see includes.ts.
      if (target.kind === "file" && repo.rules(file).includes) continue;
      const found = nameIn(target, text, space, file, seen);
      if (found && found.kind !== "external") return found;
    }
    return undefined;
  }

  function inGlobalImports(file: number, text: string, space: NameSpaceOf): Entity | undefined {
    for (const { file: from, row } of globalImports(file)) {
      const found = nameIn(engine.importTarget(from, row), text, space, from, new Set());
      if (found && found.kind !== "external") return found;
    }
    return undefined;
  }

  function lookup(file: number, scope: ScopeRow, name: NameRow, space: NameSpaceOf): Entity | undefined {
    return search(file, scope, name, repo.facts(file).strings[name]!, space);
  }

  /** @param name row of the text among the file's strings, or none */
  function search(file: number, scope: ScopeRow, name: NameRow, text: string, space: NameSpaceOf): Entity | undefined {
    const facts = repo.facts(file);
    const rules = repo.rules(file);
    for (let at = scope, steps = 0; exists(at) && steps < MAX_SCOPES; steps++) {
      const kind = facts.scopes.kind(at);
      const rows = isNone(name) ? [] : repo.bindingsOf(file, at, name);
      const own = rows.length > 0 ? choose(file, rows, space) : undefined;
      if (own) return own;
      if (rules.implicitMembers && (kind === ScopeKind.Class || (rules.includes && kind === ScopeKind.Function))) {
        const member = implicitMember(file, at, text, space);
        if (member) return member;
      }
      if (facts.spaces.length > 0) {
        const found = inSpaces(file, at, text, space);
        if (found) return found;
      }
      const wild =
        (rules.includes && at === 0 ? engine.included(file, text, space) : undefined) ??
        inWildcards(file, at, text, space, new Set()) ??
        (rules.globalImports && at === 0 ? inGlobalImports(file, text, space) : undefined);
      if (wild) return wild;
      at = facts.scopes.parent(at);
    }
    return undefined;
  }

  /** A name of an import's target. */
  function nameIn(
    target: ImportTarget,
    name: string,
    space: NameSpaceOf,
    fromFile: number,
    seen: Seen,
  ): Entity | undefined {
    switch (target.kind) {
      case "external":
        return EXTERNAL_ENTITY;
      case "file":
        return exportedFrom(target.file, name, space, seen);
      case "files":
        for (const file of target.files) {
          const found = exportedFrom(file, name, space, seen);
          if (found) return found;
        }
        return undefined;
      case "folder":
        return submodule(target.folder, name);
      case "space":
        return pick(repo.inSpace(target.name, name, fromFile), space, fromFile);
      case "inside":
        return nameInside(target, name, space, fromFile, seen);
    }
  }

  /** A module by its place in a folder. */
  function submodule(folder: string, name: string): Entity | undefined {
    const { project } = engine;
    const inside = join(folder, name);
    for (const { index, ending } of packages)
      for (const path of [join(inside, index), inside + ending]) {
        const file = project.fileAt(path);
        if (file >= 0) return { kind: "type", type: { kind: "module", files: [file] } };
      }
    if (!project.folderExists(inside)) return undefined;
    return { kind: "type", type: { kind: "module", files: [], folder: inside } };
  }

  /** The class or module that an "inside" target leads to. */
  function insideType(target: ImportTarget & { kind: "inside" }, fromFile: number): ValueType | undefined {
    // The path of an import may begin with the name that it binds.
    if (entered.has(target)) return undefined;
    entered.add(target);
    const type = findInside(target, fromFile);
    entered.delete(target);
    return type;
  }

  function findInside(target: ImportTarget & { kind: "inside" }, fromFile: number): ValueType | undefined {
    const [first = "", ...rest] = target.path;
    const outer: ImportTarget =
      target.file >= 0 ? { kind: "file", file: target.file } : { kind: "space", name: target.space };
    const entity =
      nameIn(outer, first, "type", fromFile, new Set()) ?? nameIn(outer, first, "value", fromFile, new Set());
    let type = entity?.kind === "symbol" ? engine.symbolType(entity.symbol) : engine.entityType(entity);
    for (const part of rest) type = engine.memberType(type, part);
    return type;
  }

  function nameInside(
    target: ImportTarget & { kind: "inside" },
    name: string,
    space: NameSpaceOf,
    fromFile: number,
    seen: Seen,
  ): Entity | undefined {
    const type = insideType(target, fromFile);
    if (!type) return undefined;
    if (type.kind === "external") return EXTERNAL_ENTITY;
    if (type.kind === "module") return nameIn({ kind: "files", files: type.files }, name, space, fromFile, seen);
    if (type.kind === "space") return pick(repo.inSpace(type.name, name, fromFile), space, fromFile);
    const wanted = labelsOf(space);
    const found = engine
      .members(type, name, 0, space === "call" ? true : undefined)
      .members.find((member) => wanted.has(repo.label(member.symbol)));
    return found ? { kind: "symbol", symbol: found.symbol, via: "import" } : undefined;
  }

  function moduleEntity(target: ImportTarget, fromFile: number): Entity {
    switch (target.kind) {
      case "inside": {
        const type = insideType(target, fromFile);
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

  function viaImport(entity: Entity | undefined): Entity | undefined {
    return entity?.kind === "symbol" && entity.via !== "import" ? { ...entity, via: "import" } : entity;
  }

  function followImport(file: number, row: ImportRow, space: NameSpaceOf, seen: Seen = new Set()): Entity | undefined {
    const facts = repo.facts(file);
    const kind = facts.imports.kind(row);
    const name = facts.strings[facts.imports.name(row)]!;
    const target = engine.importTarget(file, row);
    if (kind === ImportKind.Module || kind === ImportKind.Path) {
      const entity = moduleEntity(target, file);
      if (kind === ImportKind.Module) {
        // A CommonJS module that is one value: the module is that value.
        const value = filesOf(target).length > 0 ? nameIn(target, "=", space, file, seen) : undefined;
        if (value && value.kind !== "external") return viaImport(value);
      }
      return entity;
    }
    const found = viaImport(nameIn(target, name, space, file, seen));
    // A default import of a module without one gives the module itself: this is how CommonJS modules are imported.
    if (!found && name === "default" && filesOf(target).some(isCommonJs)) return moduleEntity(target, file);
    return found;
  }

  /** Whether a file exports by assignment and has no default export. */
  function isCommonJs(file: number): boolean {
    if (repo.facts(file).exports.kind(0) !== ExportKind.Value) return false;
    return repo.rules(file).exportLists && !exportIndex(file).has("default");
  }

  function exportIndex(file: number): Map<string, number[]> {
    let index = exportIndexes[file];
    if (index) return index;
    index = new Map();
    const stars: number[] = [];
    const { exports, strings } = repo.facts(file);
    for (let row = 0; row < exports.length; row++) {
      if (exports.kind(row) === ExportKind.Star) stars.push(row);
      else {
        const name = strings[exports.name(row)]!;
        const rows = index.get(name);
        if (rows) rows.push(row);
        else index.set(name, [row]);
      }
    }
    exportIndexes[file] = index;
    starRows[file] = stars;
    return index;
  }

  function exportedFrom(file: number, name: string, space: NameSpaceOf, seen: Seen): Entity | undefined {
    const key = `${file}\n${space}\n${name}`;
    const cached = exportCache.get(key);
    if (cached !== undefined) return cached ?? undefined;
    if (seen.has(key)) return undefined;
    seen.add(key);
    const found = repo.rules(file).exportLists
      ? fromExportList(file, name, space, seen)
      : fromTop(file, name, space, seen);
    // A miss inside a cycle may be due to where the cycle was entered.
    if (found || seen.size === 1) exportCache.set(key, found ?? null);
    return found;
  }

  function fromExportList(file: number, name: string, space: NameSpaceOf, seen: Seen): Entity | undefined {
    const index = exportIndex(file);
    const own = ownExport(file, name, space, seen);
    if (own) return own;
    if (name !== "default" && name !== "=") {
      for (const row of starRows[file]!) {
        const target = engine.importTarget(file, repo.facts(file).exports.importRow(row));
        if (target.kind === "external") continue;
        const found = nameIn(target, name, space, file, seen);
        if (found) return found;
      }
    }
    if (name === "=") return undefined;
    const whole = index.get("=");
    if (!whole) return undefined;
    const value = exportRow(file, whole[0]!, space, seen);
    if (name === "default") return value;
    const search = engine.members(engine.entityType(value), name);
    return search.members[0] ? { kind: "symbol", symbol: search.members[0].symbol, via: "import" } : undefined;
  }

  function ownExport(file: number, name: string, space: NameSpaceOf, seen: Seen): Entity | undefined {
    for (const row of exportIndex(file).get(name) ?? []) {
      const found = exportRow(file, row, space, seen);
      if (found) return found;
    }
    return undefined;
  }

  function exportRow(file: number, row: number, space: NameSpaceOf, seen: Seen): Entity | undefined {
    const facts = repo.facts(file);
    const from = facts.exports.from(row);
    const importRow = facts.exports.importRow(row);
    switch (facts.exports.kind(row)) {
      case ExportKind.Local: {
        const rows = repo.bindingsOf(file, FILE_SCOPE, from);
        return rows.length > 0 ? choose(file, rows, space, seen) : undefined;
      }
      case ExportKind.ReExport:
        return nameIn(engine.importTarget(file, importRow), facts.strings[from]!, space, file, seen);
      case ExportKind.Module:
        return moduleEntity(engine.importTarget(file, importRow), file);
      case ExportKind.Value: {
        const type = engine.exprType(file, facts.exports.value(row));
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

  /** Languages without export lists: every top-level name, and what the file itself imported. */
  function fromTop(file: number, name: string, space: NameSpaceOf, seen: Seen): Entity | undefined {
    const row = repo.stringRow(file, name);
    const rows = isNone(row) ? [] : repo.bindingsOf(file, FILE_SCOPE, row);
    const found = rows.length > 0 ? choose(file, rows, space, seen) : undefined;
    if (found?.kind === "symbol" && repo.has(found.symbol, SymbolFlag.FileLocal)) return undefined;
    if (found) return found;
    const wild = inWildcards(file, FILE_SCOPE, name, space, seen);
    if (wild) return wild;
    const { path, language } = repo.files[file]!;
    return basename(path) === language.rules.packages?.index ? submodule(dirname(path), name) : undefined;
  }

  return {
    lookup,
    inModule: (file, scope, text, space) => search(file, scope, repo.stringRow(file, text), text, space),
    exported: (file, name, space) => exportedFrom(file, name, space, new Set()),
    exportedRow: (file, name, space) =>
      repo.rules(file).exportLists ? ownExport(file, name, space, new Set()) : undefined,
    submodule,
    followImport: (file, row, space) => followImport(file, row, space),
  };
}
