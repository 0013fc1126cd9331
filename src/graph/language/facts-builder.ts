/**
 * The builder a language module fills while it walks a file.
 *
 * Every method appends one row and returns its index. Names are interned. NUL cannot appear in a name.
 */
import { type LanguageId, SYMBOL_LABELS, type SymbolLabel } from "../model.ts";
import {
  BINDING,
  BindingKind,
  CALL,
  EXPR,
  type ExportKind,
  Expr,
  type HeritageKind,
  IMPORT,
  type ImportKind,
  SCOPE,
  type ScopeKind,
  SYMBOL,
  TABLES,
  type TableName,
  TYPE,
  Type,
} from "./fact-layout.ts";
import type { FileFacts } from "./facts.ts";

type ValueOf<T> = T[keyof T];

/** A symbol as a language module declares it. Lines count from 1. */
export interface SymbolInput {
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
export interface ImportInput {
  /** The module or path as written. */
  name: string;
  scope: number;
  startLine: number;
  endLine: number;
  signature: string;
}

class Table {
  data: Int32Array;
  length = 0;
  readonly size: number;
  constructor(size: number) {
    this.size = size;
    this.data = new Int32Array(size * 64);
  }
  /** Makes room for one row filled with -1 and returns its first offset. */
  row(): number {
    const at = this.length;
    if (at + this.size > this.data.length) {
      const bigger = new Int32Array(this.data.length * 2);
      bigger.set(this.data);
      this.data = bigger;
    }
    this.length += this.size;
    this.data.fill(-1, at, this.length);
    return at;
  }
  add(...values: number[]): number {
    const at = this.row();
    for (let i = 0; i < values.length; i++) this.data[at + i] = values[i]!;
    return at / this.size;
  }
}

export class FactsBuilder {
  readonly path: string;
  readonly language: LanguageId;
  private readonly tables = new Map<TableName, Table>();
  private readonly strings: string[] = [];
  private readonly stringIndex = new Map<string, number>();

  constructor(path: string, language: LanguageId) {
    this.path = path;
    this.language = language;
    for (const [name, size] of TABLES) this.tables.set(name, new Table(size));
  }

  private table(name: TableName): Table {
    return this.tables.get(name)!;
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
    const lists = this.table("lists");
    const at = lists.add(items.length);
    for (const item of items) lists.add(item);
    return at;
  }

  listItems(list: number): number[] {
    const { data } = this.table("lists");
    return list < 0 ? [] : Array.from(data.subarray(list + 1, list + 1 + data[list]!));
  }

  scope(parent: number, kind: ValueOf<typeof ScopeKind>, symbol = -1): number {
    const row = this.table("scopes").add(parent, kind, symbol);
    if (symbol >= 0) this.setSymbol(symbol, "inner", row);
    return row;
  }

  scopeColumn(scope: number, column: "parent" | "kind" | "symbol"): number {
    return this.table("scopes").data[scope * SCOPE.size + SCOPE[column]]!;
  }

  /** Declares a symbol. It does not bind its name: call `bind`. */
  symbol(input: SymbolInput): number {
    const symbols = this.table("symbols");
    const at = symbols.row();
    const data = symbols.data;
    data[at + SYMBOL.label] = SYMBOL_LABELS.indexOf(input.label);
    data[at + SYMBOL.name] = this.name(input.name);
    data[at + SYMBOL.parent] = input.parent;
    data[at + SYMBOL.scope] = input.scope;
    data[at + SYMBOL.startLine] = input.startLine;
    data[at + SYMBOL.endLine] = input.endLine;
    data[at + SYMBOL.flags] = input.flags ?? 0;
    data[at + SYMBOL.type] = input.type ?? -1;
    data[at + SYMBOL.value] = input.value ?? -1;
    data[at + SYMBOL.signature] = input.signature ? this.name(input.signature) : -1;
    data[at + SYMBOL.doc] = input.doc ? this.name(input.doc) : -1;
    data[at + SYMBOL.arity] = input.arity ?? -1;
    return at / SYMBOL.size;
  }

  setSymbol(symbol: number, column: keyof typeof SYMBOL, value: number): void {
    this.table("symbols").data[symbol * SYMBOL.size + SYMBOL[column]] = value;
  }

  symbolColumn(symbol: number, column: keyof typeof SYMBOL): number {
    return this.table("symbols").data[symbol * SYMBOL.size + SYMBOL[column]]!;
  }

  /** The label of a symbol; undefined for none, which is -1. */
  labelOf(symbol: number): SymbolLabel | undefined {
    return symbol < 0 ? undefined : SYMBOL_LABELS[this.symbolColumn(symbol, "label")];
  }

  addFlag(symbol: number, flag: number): void {
    this.setSymbol(symbol, "flags", this.symbolColumn(symbol, "flags") | flag);
  }

  /** Binds a symbol's name in a scope (by default under its own name, in its own scope). */
  bind(symbol: number, scope = this.symbolColumn(symbol, "scope"), name = -1): number {
    const text = name >= 0 ? name : this.symbolColumn(symbol, "name");
    return this.table("bindings").add(scope, text, BindingKind.Symbol, symbol, -1);
  }

  /** Binds a local variable, parameter or type parameter; `type` and `value` may be -1. */
  local(
    scope: number,
    name: string,
    type: number,
    value: number,
    kind: ValueOf<typeof BindingKind> = BindingKind.Local,
  ): number {
    return this.table("bindings").add(scope, this.name(name), kind, type, value);
  }

  setBinding(binding: number, column: keyof typeof BINDING, value: number): void {
    this.table("bindings").data[binding * BINDING.size + BINDING[column]] = value;
  }

  /** Declares the node of an import as it is written; returns the `statement` of its `import` rows. */
  importStatement({ scope, ...input }: ImportInput): number {
    let outer = scope;
    while (outer >= 0 && this.scopeColumn(outer, "symbol") < 0) outer = this.scopeColumn(outer, "parent");
    const parent = outer < 0 ? -1 : this.scopeColumn(outer, "symbol");
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
    const row = this.table("imports").add(
      kind,
      this.name(module),
      this.name(name),
      local ? this.name(local) : -1,
      line,
      scope,
      statement,
    );
    if (local) this.table("bindings").add(scope, this.name(local), BindingKind.Import, row, -1);
    return row;
  }

  importColumn(row: number, column: keyof typeof IMPORT): number {
    return this.table("imports").data[row * IMPORT.size + IMPORT[column]]!;
  }

  /** What the file offers under `name`. See ExportKind for `from` and `importRow`. */
  export(kind: ValueOf<typeof ExportKind>, name: string, from: number, importRow = -1): void {
    this.table("exports").add(kind, this.name(name), from, importRow);
  }

  expr(op: ValueOf<typeof Expr>, a = -1, b = -1, c = -1): number {
    return this.table("exprs").add(op, a, b, c);
  }

  exprColumn(row: number, column: keyof typeof EXPR): number {
    return row < 0 ? -1 : this.table("exprs").data[row * EXPR.size + EXPR[column]]!;
  }

  setExpr(row: number, column: keyof typeof EXPR, value: number): void {
    this.table("exprs").data[row * EXPR.size + EXPR[column]] = value;
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
    return this.table("types").add(op, a, b, c);
  }

  typeColumn(row: number, column: keyof typeof TYPE): number {
    return row < 0 ? -1 : this.table("types").data[row * TYPE.size + TYPE[column]]!;
  }

  typeRef(name: string, scope: number, args: readonly number[] = []): number {
    return this.type(Type.Ref, this.name(name), scope, this.list(args));
  }

  /** A call site: `expr` is a Call or New row; `symbol` the nearest enclosing symbol, -1 at the top of the file. */
  call(expr: number, symbol: number, line: number, flags = 0): void {
    this.table("calls").add(expr, symbol, line, flags);
  }

  callCount(): number {
    return this.table("calls").length / CALL.size;
  }

  /** A mention of a type (an annotation, a cast). */
  useType(type: number, symbol: number, line: number): void {
    if (type >= 0) this.table("uses").add(type, -1, symbol, line);
  }

  /** A function, class or constant used as a value: passed, assigned, returned. */
  useValue(expr: number, symbol: number, line: number): void {
    if (expr >= 0) this.table("uses").add(-1, expr, symbol, line);
  }

  /** `symbol` extends or implements a type (`base`) or an expression (`expr`). */
  heritage(symbol: number, kind: ValueOf<typeof HeritageKind>, base: number, line: number, expr = -1): void {
    this.table("heritage").add(symbol, -1, kind, base, expr, line);
  }

  /** The type `subject`, declared elsewhere, extends or implements `base`. */
  heritageOf(subject: number, kind: ValueOf<typeof HeritageKind>, base: number, line: number): void {
    this.table("heritage").add(-1, subject, kind, base, -1, line);
  }

  /** `symbol` is a member of a type that is declared elsewhere. */
  attach(symbol: number, type: number): void {
    this.table("attaches").add(symbol, type);
  }

  /** The scope shares its names with every scope of that space in the repository. */
  space(scope: number, name: string): void {
    this.table("spaces").add(scope, this.name(name));
  }

  /** `target` (a Name or Member expression row) is also assigned `expr` somewhere. */
  assign(target: number, expr: number, scope: number): void {
    this.table("assigns").add(target, expr, scope);
  }

  /** Within `scope` the name has that type, or is an instance of the class `expr`. See NARROW. */
  narrow(scope: number, name: string, type: number, expr = -1): void {
    this.table("narrows").add(scope, this.name(name), type, expr);
  }

  finish(errors: number, lines: number): FileFacts {
    const facts = { language: this.language, errors, lines, strings: this.strings } as unknown as FileFacts;
    for (const [name] of TABLES) {
      const table = this.table(name);
      facts[name] = table.data.slice(0, table.length);
    }
    return facts;
  }
}
