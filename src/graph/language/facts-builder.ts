/**
 * The builder a language module fills while it walks a file.
 *
 * Every method appends one row and returns its index. Names are interned. NUL cannot appear in a name.
 */
import { type LanguageId, SYMBOL_LABELS, type SymbolLabel } from "../model.ts";
import {
  BindingKind,
  type ExportKind,
  Expr,
  type HeritageKind,
  type ImportKind,
  type ScopeKind,
  Type,
} from "./fact-layout.ts";
import type { FileFacts } from "./facts.ts";
import { NO_KEYS } from "./key-names.ts";
import type { ExprTable } from "./tables/exprs.ts";
import type { BindingTable, ScopeTable } from "./tables/scopes.ts";
import type { SymbolColumn, SymbolTable } from "./tables/symbols.ts";
import { factTables } from "./tables/tables.ts";
import type { TypeTable } from "./tables/types.ts";

type ValueOf<T> = T[keyof T];

/** A symbol as a language module declares it. Lines count from 1. */
interface SymbolInput {
  label: SymbolLabel;
  name: string;
  /** Enclosing symbol row, -1 at the top. */
  parent: number;
  /** Scope it is declared in. */
  scope: number;
  startLine: number;
  endLine: number;
  /** Sum of SymbolFlag values. */
  flags?: number;
  type?: number;
  value?: number;
  signature?: string;
  doc?: string;
  arity?: number;
}

/** What is written before or in a declaration about it: a decorator, annotation or attribute. Lines count from 1. */
export interface DecoratorInput {
  /** As written, without arguments: `app.route`. */
  name: string;
  startLine: number;
  endLine: number;
  signature: string;
  /** Expression row of what is named or called, or -1. */
  value?: number;
  /** Type row of the annotation's type, or -1. */
  type?: number;
}

/** One import as it is written. Lines count from 1. */
interface ImportInput {
  /** The module or path as written. */
  name: string;
  scope: number;
  startLine: number;
  endLine: number;
  signature: string;
}

export class FactsBuilder {
  readonly path: string;
  readonly language: LanguageId;
  private readonly tables = factTables(() => new Int32Array(0));
  private readonly strings: string[] = [];
  private readonly stringIndex = new Map<string, number>();

  constructor(path: string, language: LanguageId) {
    this.path = path;
    this.language = language;
  }

  get symbols(): SymbolTable {
    return this.tables.symbols;
  }

  get scopes(): ScopeTable {
    return this.tables.scopes;
  }

  get bindings(): BindingTable {
    return this.tables.bindings;
  }

  get exprs(): ExprTable {
    return this.tables.exprs;
  }

  get types(): TypeTable {
    return this.tables.types;
  }

  /** Interns a name. */
  name(text: string): number {
    let index = this.stringIndex.get(text);
    if (index === undefined) {
      index = this.strings.length;
      this.strings.push(text.includes("\u0000") ? text.replaceAll("\u0000", "") : text);
      this.stringIndex.set(text, index);
    }
    return index;
  }

  text(index: number): string {
    return this.strings[index] ?? "";
  }

  list(items: readonly number[]): number {
    if (items.length === 0) return -1;
    const { lists } = this.tables;
    const at = lists.add(items.length);
    for (const item of items) lists.add(item);
    return at;
  }

  listItems(list: number): number[] {
    return Array.from(this.tables.lists.items(list));
  }

  scope(parent: number, kind: ValueOf<typeof ScopeKind>, symbol = -1): number {
    const row = this.tables.scopes.add(parent, kind, symbol);
    if (symbol >= 0) this.setSymbol(symbol, "inner", row);
    return row;
  }

  /** Declares a symbol. It does not bind its name: call `bind`. */
  symbol(input: SymbolInput): number {
    return this.symbols.add(
      SYMBOL_LABELS.indexOf(input.label),
      this.name(input.name),
      input.parent,
      input.scope,
      -1,
      input.startLine,
      input.endLine,
      input.flags ?? 0,
      input.type ?? -1,
      input.value ?? -1,
      -1,
      -1,
      -1,
      input.signature ? this.name(input.signature) : -1,
      input.doc ? this.name(input.doc) : -1,
      input.arity ?? -1,
    );
  }

  setSymbol(symbol: number, column: SymbolColumn, value: number): void {
    this.symbols.set(symbol, column, value);
  }

  /** The label of a symbol; undefined for none, which is -1. */
  labelOf(symbol: number): SymbolLabel | undefined {
    return symbol < 0 ? undefined : SYMBOL_LABELS[this.symbols.label(symbol)];
  }

  addFlag(symbol: number, flag: number): void {
    this.setSymbol(symbol, "flags", this.symbols.flags(symbol) | flag);
  }

  /** Binds a symbol's name in a scope (by default under its own name, in its own scope). */
  bind(symbol: number, scope = this.symbols.scope(symbol), name = -1): number {
    const text = name >= 0 ? name : this.symbols.name(symbol);
    return this.tables.bindings.add(scope, text, BindingKind.Symbol, symbol, -1);
  }

  /** Binds a local variable, parameter or type parameter; `type` and `value` may be -1. */
  local(
    scope: number,
    name: string,
    type: number,
    value: number,
    kind: ValueOf<typeof BindingKind> = BindingKind.Local,
  ): number {
    return this.tables.bindings.add(scope, this.name(name), kind, type, value);
  }

  /** Declares the node of an import as it is written; returns the `statement` of its `import` rows. */
  importStatement({ scope, ...input }: ImportInput): number {
    let outer = scope;
    while (outer >= 0 && this.scopes.symbol(outer) < 0) outer = this.scopes.parent(outer);
    const parent = outer < 0 ? -1 : this.scopes.symbol(outer);
    return this.symbol({ label: "Import", parent, scope, ...input });
  }

  /** Declares the node of a decorator of `owner`, a symbol row, or -1 for the file. */
  decorator(owner: number, scope: number, input: DecoratorInput): number {
    return this.symbol({ label: "Decorator", parent: owner, scope, ...input });
  }

  /**
   * Records an import and, if `local` is not empty, binds the name in the scope. `statement` is the row that
   * `importStatement` gave; -1 for names that are known without an import.
   */
  import(
    kind: ValueOf<typeof ImportKind>,
    module: string,
    name: string,
    local: string,
    line: number,
    scope: number,
    statement = -1,
  ): number {
    const row = this.tables.imports.add(
      kind,
      this.name(module),
      this.name(name),
      local ? this.name(local) : -1,
      line,
      scope,
      statement,
    );
    if (local) this.tables.bindings.add(scope, this.name(local), BindingKind.Import, row, -1);
    return row;
  }

  /** Exports `name`. See ExportKind for `from` and `importRow`. */
  export(kind: ValueOf<typeof ExportKind>, name: string, from: number, importRow = -1): void {
    this.tables.exports.add(kind, this.name(name), from, importRow);
  }

  expr(op: ValueOf<typeof Expr>, a = -1, b = -1, c = -1): number {
    return this.tables.exprs.add(op, a, b, c);
  }

  exprName(name: string, scope: number): number {
    return this.expr(Expr.Name, this.name(name), scope);
  }

  exprMember(object: number, name: string): number {
    return this.expr(Expr.Member, object, this.name(name));
  }

  exprCall(callee: number, args: readonly number[], typeArgs: readonly number[] = []): number {
    return this.expr(Expr.Call, callee, this.list(args), this.list(typeArgs));
  }

  exprLiteral(builtin: string): number {
    return this.expr(Expr.Literal, this.name(builtin));
  }

  type(op: ValueOf<typeof Type>, a = -1, b = -1, c = -1): number {
    return this.tables.types.add(op, a, b, c);
  }

  typeRef(name: string, scope: number, args: readonly number[] = []): number {
    return this.type(Type.Ref, this.name(name), scope, this.list(args));
  }

  /** A call site: `expr` is a Call or New row; `symbol` the nearest enclosing symbol, -1 at the top of the file. */
  call(expr: number, symbol: number, line: number, flags = 0): void {
    this.tables.calls.add(expr, symbol, line, flags);
  }

  callCount(): number {
    return this.tables.calls.length;
  }

  /** A mention of a type (an annotation, a cast). */
  useType(type: number, symbol: number, line: number): void {
    if (type >= 0) this.tables.uses.add(type, -1, symbol, line);
  }

  /** A function, class or constant used as a value: passed, assigned, returned. */
  useValue(expr: number, symbol: number, line: number): void {
    if (expr >= 0) this.tables.uses.add(-1, expr, symbol, line);
  }

  /** `symbol` extends or implements a type (`base`) or an expression (`expr`). */
  heritage(symbol: number, kind: ValueOf<typeof HeritageKind>, base: number, line: number, expr = -1): void {
    this.tables.heritage.add(symbol, -1, kind, base, expr, line);
  }

  /** The type `subject`, declared elsewhere, extends or implements `base`. */
  heritageOf(subject: number, kind: ValueOf<typeof HeritageKind>, base: number, line: number): void {
    this.tables.heritage.add(-1, subject, kind, base, -1, line);
  }

  /** `symbol` is a member of a type that is declared elsewhere. */
  attach(symbol: number, type: number): void {
    this.tables.attaches.add(symbol, type);
  }

  /** The scope shares its names with every scope of that space in the repository. */
  space(scope: number, name: string): void {
    this.tables.spaces.add(scope, this.name(name));
  }

  /** `target` (a Name or Member expression row) is also assigned `expr` somewhere. */
  assign(target: number, expr: number, scope: number): void {
    this.tables.assigns.add(target, expr, scope);
  }

  /** Within `scope` the name has that type, or is an instance of the class `expr`. See `NarrowTable`. */
  narrow(scope: number, name: string, type: number, expr = -1): void {
    this.tables.narrows.add(scope, this.name(name), type, expr);
  }

  /** @param unread lines that the parser could not read */
  finish(unread: number, lines: number): FileFacts {
    const packed = factTables((name) => this.tables[name].packed());
    return { ...packed, language: this.language, unread, lines, strings: this.strings, keys: NO_KEYS };
  }
}
