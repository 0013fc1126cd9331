/**
 * The surface of a file: what other files can see of it, as texts to compare. One part is ordered by the name that
 * others must mention to see it. The other part is found without a name (bases, wildcards, operators, iterators). If
 * nothing of a surface changed, an edit of the file cannot change what calls in other files reach.
 *
 * Symbols are identified by their place (`path#outer.inner~2`), because rows move. Functions and literals that others
 * can get as values are described down to their parameters, as they are visible without being named.
 */

import { BindingKind, ExportKind, Expr, ImportKind, SymbolFlag } from "../language/fact-layout.ts";
import type { ImportTarget } from "../language/language.ts";
import { type BindingRow, exists, isNone, rowAfter } from "../rows.ts";
import type { Engine, Entity } from "./engine.ts";
import { isReference, type Repository } from "./repository.ts";
import { THIS_ID, type TypeEnv, type ValueType } from "./types/value-type.ts";

export interface Surface {
  /** Descriptions of what is visible under each name. */
  names: Map<string, string>;
  /** Descriptions of what is visible without a name. */
  whole: string;
}

/** How deep values inside of values are described. */
const MAX_DEPTH = 3;
/** How many members of a literal are described. Iterating or matching the literal may look at them. */
const MAX_MEMBERS = 40;
/** Names as they are written in sources. Others (`()`, `[]`, `=`) are found without being mentioned. */
const WORD = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;

/** Collects a surface. */
class Collected {
  readonly names = new Map<string, string>();
  readonly whole: string[] = [];

  /** @param special names that the language itself looks up, so that they are found without being mentioned */
  constructor(private readonly special: RegExp | undefined) {}

  put(name: string, text: string): void {
    if (WORD.test(name) && !this.special?.test(name)) this.names.set(name, `${this.names.get(name) ?? ""}\n${text}`);
    else this.whole.push(`${name} ${text}`);
  }

  finish(): Surface {
    return { names: this.names, whole: this.whole.sort().join("\n") };
  }
}

export class Surfaces {
  private readonly repo: Repository;
  /** The place of each symbol of a file, by row. */
  private readonly places: (string[] | undefined)[] = [];
  /** Full descriptions of symbols that are met as values. */
  private readonly described = new Map<number, string>();

  constructor(private readonly engine: Engine) {
    this.repo = engine.repo;
  }

  /** The surface of a file. */
  of(file: number): Surface {
    const rules = this.repo.rules(file);
    const into = new Collected(rules.specialMembers);
    this.addSymbols(file, into);
    this.addAttached(file, into);
    if (rules.openValues) this.addAssigned(file, into);
    this.addImports(file, into);
    this.addExports(file, into);
    return into.finish();
  }

  /** Texts that identify each symbol of a file, by row. */
  private placesOf(file: number): string[] {
    const known = this.places[file];
    if (known) return known;
    const { symbols, strings } = this.repo.facts(file);
    const seen = new Map<string, number>();
    const found: string[] = [];
    for (let row = symbols.first; row < symbols.length; row = rowAfter(row)) {
      // A reference contains no symbols, so no other symbol's place depends on it.
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
    this.places[file] = found;
    return found;
  }

  private place(symbol: number): string {
    const file = this.repo.fileOf(symbol);
    return `${this.repo.pathOf(file)}#${this.placesOf(file)[symbol - this.repo.base[file]!]}`;
  }

  private bindingPlace(file: number, binding: BindingRow): string {
    const { bindings, scopes, strings } = this.repo.facts(file);
    const owner = scopes.symbol(bindings.scope(binding));
    const name = strings[bindings.name(binding)]!;
    return `${this.repo.pathOf(file)}#${isNone(owner) ? "" : this.placesOf(file)[owner]}/${name}`;
  }

  private envText(env: TypeEnv | undefined, depth: number): string {
    return env
      ? `<${env
          .values()
          .map((type) => this.typeText(type, depth + 1))
          .join()}>`
      : "";
  }

  private typeText(type: ValueType | undefined, depth: number): string {
    if (!type) return "?";
    switch (type.kind) {
      case "instance":
      case "class":
        return `${type.kind[0]}${this.valueText(type.symbol, depth)}${depth < MAX_DEPTH ? this.envText(type.env, depth) : ""}`;
      case "function":
        return `f${this.valueText(type.symbol, depth)}`;
      case "module":
        return `m${type.files.map((file) => this.repo.pathOf(file)).join()}${type.folder ?? ""}`;
      case "space":
        return `s${type.name}`;
      case "builtin":
        return depth < MAX_DEPTH
          ? `b${type.name}(${type.args.map((arg) => this.typeText(arg, depth + 1)).join()})`
          : type.name;
      case "union":
        return type.of.map((part) => this.typeText(part, depth)).join("|");
      case "parameter":
        return type.id === THIS_ID ? `this${this.place(type.file)}` : `p${this.bindingPlace(type.file, type.binding)}`;
      case "external":
        return "x";
    }
  }

  /** A symbol met as a value. It is described in full if it can be called or looked into without being named. */
  private valueText(symbol: number, depth: number): string {
    const label = this.repo.label(symbol);
    const hidden = this.repo.has(symbol, SymbolFlag.Hidden);
    if (depth >= MAX_DEPTH || (!hidden && label !== "Function" && label !== "Method")) return this.place(symbol);
    const key = symbol * MAX_DEPTH + depth;
    const known = this.described.get(key);
    if (known !== undefined) return known;
    const text = this.describe(symbol, hidden, depth);
    this.described.set(key, text);
    return text;
  }

  private describe(symbol: number, hidden: boolean, depth: number): string {
    let text = `${this.place(symbol)}{${this.ownText(symbol, depth + 1)}`;
    if (hidden) {
      let members = 0;
      for (const [name, found] of this.repo.childrenOf(symbol)) {
        if (++members > MAX_MEMBERS) break;
        text += `,${name}:${this.typeText(this.engine.types.typeOfSymbol(found[0]!), depth + 1)}`;
      }
    }
    return `${text}}`;
  }

  /** Describes a symbol apart from its name: its parameters, types and flags. */
  private ownText(symbol: number, depth: number): string {
    const { engine, repo } = this;
    const file = repo.fileOf(symbol);
    const { bindings } = repo.facts(file);
    const label = repo.label(symbol);
    let text = `${label} ${repo.flags(symbol)} ${repo.column(symbol, "arity")}`;
    for (const row of repo.facts(file).lists.items(repo.column(symbol, "typeParameters"))) {
      text += ` T${this.typeText(engine.types.typeAt(file, bindings.constraint(row)), depth)}=${this.typeText(engine.types.typeAt(file, bindings.fallback(row)), depth)}`;
    }
    for (const row of repo.facts(file).lists.items(repo.column(symbol, "parameters")))
      text += ` P${this.typeText(engine.types.typeAt(file, bindings.type(row)), depth)}`;
    const type = repo.column(symbol, "type");
    if (exists(type)) text += ` :${this.typeText(engine.types.typeAt(file, type), depth)}`;
    if (label === "Function" || label === "Method" || repo.has(symbol, SymbolFlag.Getter))
      return `${text} >${this.typeText(engine.calls.returnTypeOf(symbol), depth)}`;
    const value = repo.column(symbol, "value");
    if (exists(value)) text += ` =${this.typeText(engine.expressions.typeAt(file, value), depth)}`;
    return `${text} ${this.typeText(engine.types.typeOfSymbol(symbol), depth)}`;
  }

  private entityText(entity: Entity | undefined): string {
    switch (entity?.kind) {
      case undefined:
        return "?";
      case "symbol":
        return this.place(entity.symbol);
      case "binding":
        return `${this.bindingPlace(entity.file, entity.binding)}:${this.typeText(this.engine.types.typeOfEntity(entity), 0)}`;
      case "type":
        return this.typeText(entity.type, 0);
      case "external":
        return "x";
    }
  }

  private targetText(target: ImportTarget): string {
    const pathOf = (file: number) => this.repo.files[file]?.path ?? "";
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

  private addSymbols(file: number, into: Collected): void {
    const { engine, repo } = this;
    const facts = repo.facts(file);
    const rules = repo.rules(file);
    const base = repo.base[file]!;

    for (let row = facts.symbols.first; row < facts.symbols.length; row = rowAfter(row)) {
      if (isReference(facts.symbols.label(row))) continue;
      const symbol = base + row;
      const name = facts.strings[facts.symbols.name(row)]!;
      const inner = exists(facts.symbols.inner(row));
      const label = repo.label(symbol);
      const type = inner && label !== "Function" && label !== "Method";
      if (name === "" && !type) continue;
      const text = `${this.place(symbol)} ${this.ownText(symbol, 0)}`;
      if (name !== "") into.put(name, text);
      // Bases decide where members are found that other files name. So does the only method of an interface that a
      // lambda implements.
      const bases = type ? engine.bases.basesOf(symbol, undefined).map((one) => this.typeText(one, 0)) : [];
      if (bases.length > 0) into.whole.push(`${this.place(symbol)} < ${bases.join()}`);
      const parent = repo.parent(symbol);
      if (parent < 0 || label !== "Method") continue;
      if (rules.overloads && repo.label(parent) === "Interface") into.whole.push(text);
      if (name !== rules.constructorName && !repo.has(symbol, SymbolFlag.Constructor)) continue;
      // Code that makes an instance either names the class or was given the class. In the latter case the type
      // arguments say what is made.
      if (exists(repo.column(parent, "typeParameters"))) into.whole.push(text);
      else into.put(repo.name(parent), text);
    }
  }

  private addAttached(file: number, into: Collected): void {
    const { engine, repo } = this;
    const facts = repo.facts(file);
    for (let row = 0; row < facts.attaches.length; row++) {
      const member = facts.symbols.name(facts.attaches.symbol(row));
      into.put(facts.strings[member]!, `of ${this.typeText(engine.types.typeAt(file, facts.attaches.type(row)), 0)}`);
    }
    for (let row = 0; row < facts.heritage.length; row++) {
      if (exists(facts.heritage.symbol(row))) continue;
      const [subject, type] = [facts.heritage.subject(row), facts.heritage.type(row)];
      into.whole.push(
        `${this.typeText(engine.types.typeAt(file, subject), 0)} is ${this.typeText(engine.types.typeAt(file, type), 0)}`,
      );
    }
    for (let row = 0; row < facts.spaces.length; row++)
      into.whole.push(`space ${facts.strings[facts.spaces.name(row)]}`);
  }

  /** Adds members that exist only by assignment, and the bases of constructor functions. */
  private addAssigned(file: number, into: Collected): void {
    const { engine, repo } = this;
    const facts = repo.facts(file);
    const rules = repo.rules(file);
    const base = repo.base[file]!;

    for (let row = 0; row < facts.assigns.length; row++) {
      const target = facts.assigns.target(row);
      if (facts.exprs.op(target) !== Expr.Member) continue;
      const name = facts.strings[facts.exprs.member(target)]!;
      const text = `assigned ${this.typeText(engine.expressions.typeAt(file, facts.assigns.expr(row)), 0)}`;
      // Members of a prototype are found by their own names.
      if (name === rules.openValues?.prototype) into.whole.push(text);
      else into.put(name, text);
    }
    for (let row = 0; row < facts.heritage.length; row++) {
      const symbol = facts.heritage.symbol(row);
      if (isNone(symbol) || repo.label(base + symbol) !== "Function") continue;
      const bases = engine.bases.basesOf(base + symbol, undefined).map((one) => this.typeText(one, 0));
      into.whole.push(`${this.place(base + symbol)} < ${bases.join()}`);
    }
  }

  private addImports(file: number, into: Collected): void {
    const { engine, repo } = this;
    const facts = repo.facts(file);
    const rules = repo.rules(file);

    for (let row = facts.imports.first; row < facts.imports.length; row = rowAfter(row))
      if (facts.imports.kind(row) === ImportKind.Wildcard)
        into.whole.push(`all of ${this.targetText(engine.imports.targetOf(file, row))}`);
    if (rules.exportLists) return;
    for (let row = facts.bindings.first; row < facts.bindings.length; row = rowAfter(row)) {
      if (facts.bindings.scope(row) !== 0 || facts.bindings.kind(row) === BindingKind.Symbol) continue;
      const name = facts.strings[facts.bindings.name(row)]!;
      if (facts.bindings.kind(row) !== BindingKind.Import)
        into.put(name, this.typeText(engine.types.typeOfBinding(file, row), 0));
      else
        for (const space of ["value", "type"] as const)
          into.put(
            name,
            `${space} ${this.entityText(engine.names.followImport(file, facts.bindings.importRow(row), space))}`,
          );
    }
  }

  private addExports(file: number, into: Collected): void {
    const { engine, repo } = this;
    const facts = repo.facts(file);

    for (let row = facts.exports.first; row < facts.exports.length; row = rowAfter(row)) {
      const name = facts.strings[facts.exports.name(row)] ?? "";
      if (facts.exports.kind(row) === ExportKind.Star)
        into.whole.push(`gives ${this.targetText(engine.imports.targetOf(file, facts.exports.importRow(row)))}`);
      else
        for (const space of ["value", "type"] as const)
          into.put(name, `${space} ${this.entityText(engine.exports.findExport(file, name, space))}`);
    }
  }
}
