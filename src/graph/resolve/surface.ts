/**
 * What other files can see of a file, as texts to compare: by the name they must mention to see it, and as a whole for
 * what is found without its name (bases, wildcards, operators, iterators). When nothing of it changed, an edit cannot
 * change what any other file's calls reach.
 *
 * Symbols are named by their place (`path#outer.inner~2`), so that rows may move. Functions and literals that others
 * meet as values are described down to their parameters, as they are seen without being named.
 */

import { BindingKind, ExportKind, Expr, ImportKind, SymbolFlag } from "../language/fact-layout.ts";
import type { ImportTarget } from "../language/language.ts";
import { type BindingRow, exists, isNone, rowAfter } from "../rows.ts";
import type { Engine, Entity } from "./engine.ts";
import { isReference } from "./repository.ts";
import { THIS_ID, type TypeEnv, type ValueType } from "./types/value-type.ts";

interface Surface {
  /** What is seen under each name. */
  names: Map<string, string>;
  /** What is seen without a name. */
  whole: string;
}

/** How deep values of values are described. */
const MAX_DEPTH = 3;
/** Members of a literal that iterating or matching it may look at. */
const MAX_MEMBERS = 40;
/** Names as sources write them; others (`()`, `[]`, `=`) are found without being mentioned. */
const WORD = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;

export function createSurfaces(engine: Engine): (file: number) => Surface {
  const { repo } = engine;
  const places: (string[] | undefined)[] = [];
  const described = new Map<number, string>();

  /** Texts that name each symbol of a file, by row. */
  function placesOf(file: number): string[] {
    const known = places[file];
    if (known) return known;
    const { symbols, strings } = repo.facts(file);
    const seen = new Map<string, number>();
    const found: string[] = [];
    for (let row = symbols.first; row < symbols.length; row = rowAfter(row)) {
      // A reference contains nothing, and no other symbol's place depends on it.
      if (isReference(symbols.label(row))) {
        found.push("");
        continue;
      }
      const parent = symbols.parent(row);
      const name = strings[symbols.name(row)]! || `<${symbols.label(row)}>`;
      const chain = isNone(parent) ? name : `${found[parent]}.${name}`;
      const ordinal = (seen.get(chain) ?? 0) + 1;
      seen.set(chain, ordinal);
      found.push(ordinal > 1 ? `${chain}~${ordinal}` : chain);
    }
    places[file] = found;
    return found;
  }

  function place(symbol: number): string {
    const file = repo.fileOf(symbol);
    return `${repo.files[file]!.path}#${placesOf(file)[symbol - repo.base[file]!]}`;
  }

  function bindingPlace(file: number, binding: BindingRow): string {
    const { bindings, scopes, strings } = repo.facts(file);
    const owner = scopes.symbol(bindings.scope(binding));
    const name = strings[bindings.name(binding)]!;
    return `${repo.files[file]!.path}#${isNone(owner) ? "" : placesOf(file)[owner]}/${name}`;
  }

  function envText(env: TypeEnv | undefined, depth: number): string {
    return env ? `<${Array.from(env.values(), (type) => typeText(type, depth + 1)).join()}>` : "";
  }

  function typeText(type: ValueType | undefined, depth: number): string {
    if (!type) return "?";
    switch (type.kind) {
      case "instance":
      case "class":
        return `${type.kind[0]}${valueText(type.symbol, depth)}${depth < MAX_DEPTH ? envText(type.env, depth) : ""}`;
      case "function":
        return `f${valueText(type.symbol, depth)}`;
      case "module":
        return `m${type.files.map((file) => repo.files[file]!.path).join()}${type.folder ?? ""}`;
      case "space":
        return `s${type.name}`;
      case "builtin":
        return depth < MAX_DEPTH
          ? `b${type.name}(${type.args.map((arg) => typeText(arg, depth + 1)).join()})`
          : type.name;
      case "union":
        return type.of.map((part) => typeText(part, depth)).join("|");
      case "parameter":
        return type.id === THIS_ID ? `this${place(type.file)}` : `p${bindingPlace(type.file, type.binding)}`;
      case "external":
        return "x";
    }
  }

  /** A symbol met as a value. One that can be called or looked into without being named is described in full. */
  function valueText(symbol: number, depth: number): string {
    const label = repo.label(symbol);
    const hidden = repo.has(symbol, SymbolFlag.Hidden);
    if (depth >= MAX_DEPTH || (!hidden && label !== "Function" && label !== "Method")) return place(symbol);
    const key = symbol * MAX_DEPTH + depth;
    const known = described.get(key);
    if (known !== undefined) return known;
    const text = describe(symbol, hidden, depth);
    described.set(key, text);
    return text;
  }

  function describe(symbol: number, hidden: boolean, depth: number): string {
    let text = `${place(symbol)}{${ownText(symbol, depth + 1)}`;
    if (hidden) {
      let members = 0;
      for (const [name, found] of repo.childrenOf(symbol)) {
        if (++members > MAX_MEMBERS) break;
        text += `,${name}:${typeText(engine.symbolType(found[0]!), depth + 1)}`;
      }
    }
    return `${text}}`;
  }

  /** What a symbol is, apart from its name: parameters, types, flags. */
  function ownText(symbol: number, depth: number): string {
    const file = repo.fileOf(symbol);
    const { bindings } = repo.facts(file);
    const label = repo.label(symbol);
    let text = `${label} ${repo.flags(symbol)} ${repo.column(symbol, "arity")}`;
    for (const row of repo.facts(file).lists.items(repo.column(symbol, "typeParameters"))) {
      text += ` T${typeText(engine.typeAt(file, bindings.constraint(row)), depth)}=${typeText(engine.typeAt(file, bindings.fallback(row)), depth)}`;
    }
    for (const row of repo.facts(file).lists.items(repo.column(symbol, "parameters")))
      text += ` P${typeText(engine.typeAt(file, bindings.type(row)), depth)}`;
    const type = repo.column(symbol, "type");
    if (exists(type)) text += ` :${typeText(engine.typeAt(file, type), depth)}`;
    if (label === "Function" || label === "Method" || repo.has(symbol, SymbolFlag.Getter))
      return `${text} >${typeText(engine.returnType(symbol), depth)}`;
    const value = repo.column(symbol, "value");
    if (exists(value)) text += ` =${typeText(engine.exprType(file, value), depth)}`;
    return `${text} ${typeText(engine.symbolType(symbol), depth)}`;
  }

  function entityText(entity: Entity | undefined): string {
    switch (entity?.kind) {
      case undefined:
        return "?";
      case "symbol":
        return place(entity.symbol);
      case "binding":
        return `${bindingPlace(entity.file, entity.binding)}:${typeText(engine.entityType(entity), 0)}`;
      case "type":
        return typeText(entity.type, 0);
      case "external":
        return "x";
    }
  }

  function targetText(target: ImportTarget): string {
    const pathOf = (file: number) => repo.files[file]?.path ?? "";
    switch (target.kind) {
      case "external":
        return "x";
      case "file":
        return pathOf(target.file);
      case "files":
        return target.files.map(pathOf).join();
      case "folder":
        return `${target.folder}/`;
      case "space":
        return `s${target.name}`;
      case "inside":
        return `${target.file >= 0 ? pathOf(target.file) : target.space}!${target.path.join(".")}`;
    }
  }

  /** Collects the surface of a file. */
  return (file) => {
    const facts = repo.facts(file);
    const rules = repo.rules(file);
    const base = repo.base[file]!;
    const names = new Map<string, string>();
    const whole: string[] = [];
    const put = (name: string, text: string) => {
      if (WORD.test(name) && !rules.specialMembers?.test(name)) names.set(name, `${names.get(name) ?? ""}\n${text}`);
      else whole.push(`${name} ${text}`);
    };
    symbolTexts();
    for (let row = 0; row < facts.attaches.length; row++) {
      const member = facts.symbols.name(facts.attaches.symbol(row));
      put(facts.strings[member]!, `of ${typeText(engine.typeAt(file, facts.attaches.type(row)), 0)}`);
    }
    for (let row = 0; row < facts.heritage.length; row++) {
      if (exists(facts.heritage.symbol(row))) continue;
      const [subject, type] = [facts.heritage.subject(row), facts.heritage.type(row)];
      whole.push(`${typeText(engine.typeAt(file, subject), 0)} is ${typeText(engine.typeAt(file, type), 0)}`);
    }
    for (let row = 0; row < facts.spaces.length; row++) whole.push(`space ${facts.strings[facts.spaces.name(row)]}`);
    if (rules.openValues) assignTexts();
    importTexts();
    exportTexts();
    return { names, whole: whole.sort().join("\n") };

    function symbolTexts(): void {
      for (let row = facts.symbols.first; row < facts.symbols.length; row = rowAfter(row)) {
        if (isReference(facts.symbols.label(row))) continue;
        const symbol = base + row;
        const name = facts.strings[facts.symbols.name(row)]!;
        const inner = exists(facts.symbols.inner(row));
        const label = repo.label(symbol);
        const type = inner && label !== "Function" && label !== "Method";
        if (name === "" && !type) continue;
        const text = `${place(symbol)} ${ownText(symbol, 0)}`;
        if (name !== "") put(name, text);
        // Bases decide where members are found that other files name; so does the one method a lambda stands for.
        const bases = type ? engine.bases(symbol, undefined).map((one) => typeText(one, 0)) : [];
        if (bases.length > 0) whole.push(`${place(symbol)} < ${bases.join()}`);
        const parent = repo.parent(symbol);
        if (parent < 0 || label !== "Method") continue;
        if (rules.overloads && repo.label(parent) === "Interface") whole.push(text);
        if (name !== rules.constructorName && !repo.has(symbol, SymbolFlag.Constructor)) continue;
        // Code that makes an instance names the class or was given it; in the latter case its type arguments say what
        // is made.
        if (exists(repo.column(parent, "typeParameters"))) whole.push(text);
        else put(repo.name(parent), text);
      }
    }

    /** Members that are only assigned, and the parents of constructor functions. */
    function assignTexts(): void {
      for (let row = 0; row < facts.assigns.length; row++) {
        const target = facts.assigns.target(row);
        if (facts.exprs.op(target) !== Expr.Member) continue;
        const name = facts.strings[facts.exprs.member(target)]!;
        const text = `assigned ${typeText(engine.exprType(file, facts.assigns.expr(row)), 0)}`;
        // A prototype's members are found by their own names.
        if (name === rules.openValues?.prototype) whole.push(text);
        else put(name, text);
      }
      for (let row = 0; row < facts.heritage.length; row++) {
        const symbol = facts.heritage.symbol(row);
        if (isNone(symbol) || repo.label(base + symbol) !== "Function") continue;
        const bases = engine.bases(base + symbol, undefined).map((one) => typeText(one, 0));
        whole.push(`${place(base + symbol)} < ${bases.join()}`);
      }
    }

    function importTexts(): void {
      for (let row = facts.imports.first; row < facts.imports.length; row = rowAfter(row))
        if (facts.imports.kind(row) === ImportKind.Wildcard)
          whole.push(`all of ${targetText(engine.importTarget(file, row))}`);
      if (rules.exportLists) return;
      for (let row = facts.bindings.first; row < facts.bindings.length; row = rowAfter(row)) {
        if (facts.bindings.scope(row) !== 0 || facts.bindings.kind(row) === BindingKind.Symbol) continue;
        const name = facts.strings[facts.bindings.name(row)]!;
        if (facts.bindings.kind(row) !== BindingKind.Import) put(name, typeText(engine.bindingType(file, row), 0));
        else
          for (const space of ["value", "type"] as const)
            put(name, `${space} ${entityText(engine.followImport(file, facts.bindings.importRow(row), space))}`);
      }
    }

    function exportTexts(): void {
      for (let row = facts.exports.first; row < facts.exports.length; row = rowAfter(row)) {
        const name = facts.strings[facts.exports.name(row)] ?? "";
        if (facts.exports.kind(row) === ExportKind.Star)
          whole.push(`gives ${targetText(engine.importTarget(file, facts.exports.importRow(row)))}`);
        else
          for (const space of ["value", "type"] as const)
            put(name, `${space} ${entityText(engine.exported(file, name, space))}`);
      }
    }
  };
}
