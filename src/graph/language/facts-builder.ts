/**
 * Builds the facts of a file, while a language module walks the file.
 *
 * Every method appends one row and returns its index. Names are interned. Names do not contain NUL.
 */
import { type LanguageId, SYMBOL_LABELS, type SymbolLabel } from "../model.ts";
import {
  type BindingRow,
  type ExprRow,
  exists,
  type ImportRow,
  isNone,
  type ListOf,
  type NameRow,
  NONE,
  rowAt,
  type ScopeRow,
  type SymbolRow,
  type TypeList,
  type TypeRow,
} from "../rows.ts";
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
import type { SymbolColumn, SymbolValue } from "./tables/symbols.ts";
import { emptyTables, type FactTables, TABLE_NAMES } from "./tables/tables.ts";

type ValueOf<T> = T[keyof T];

/** A symbol as a language module declares it. Lines count from 1. */
interface SymbolInput {
  label: SymbolLabel;
  name: string;
  /** Row of the enclosing symbol; none at the top. */
  parent: SymbolRow;
  /** The scope in which it is declared. */
  scope: ScopeRow;
  startLine: number;
  endLine: number;
  /** Sum of SymbolFlag values. */
  flags?: number;
  type?: number;
  value?: ExprRow;
  signature?: string;
  doc?: string;
  arity?: number;
}

/** A decorator, annotation or attribute of a declaration. Lines count from 1. */
export interface DecoratorInput {
  /** Name as written, without arguments: `app.route`. */
  name: string;
  startLine: number;
  endLine: number;
  signature: string;
  /** Row of the expression that is named or called, or none. */
  value?: ExprRow;
  /** Row of the annotation's type, or none. */
  type?: number;
}

/** An import statement in the source. Lines count from 1. */
interface ImportInput {
  /** The module or path as written. */
  name: string;
  scope: ScopeRow;
  startLine: number;
  endLine: number;
  signature: string;
}

export class FactsBuilder {
  private readonly strings: string[] = [];
  private readonly stringIndex = new Map<string, NameRow>();

  /** @param tables the tables to write to; their earlier content is dropped */
  constructor(
    readonly path: string,
    readonly language: LanguageId,
    private readonly tables = emptyTables(),
  ) {
    for (const name of TABLE_NAMES) tables[name].clear();
  }

  get symbols(): FactTables["symbols"] {
    return this.tables.symbols;
  }

  get scopes(): FactTables["scopes"] {
    return this.tables.scopes;
  }

  get bindings(): FactTables["bindings"] {
    return this.tables.bindings;
  }

  get exprs(): FactTables["exprs"] {
    return this.tables.exprs;
  }

  get types(): FactTables["types"] {
    return this.tables.types;
  }

  /** Interns a name. */
  name(text: string): NameRow {
    let index = this.stringIndex.get(text);
    if (index === undefined) {
      index = rowAt<NameRow>(this.strings.length);
      this.strings.push(text.includes("\u0000") ? text.replaceAll("\u0000", "") : text);
      this.stringIndex.set(text, index);
    }
    return index;
  }

  text(index: NameRow): string {
    return this.strings[index] ?? "";
  }

  list<Item extends number>(items: readonly Item[]): ListOf<Item> {
    if (items.length === 0) return NONE;
    const { lists } = this.tables;
    const at = rowAt<ListOf<Item>>(lists.add(items.length));
    for (const item of items) lists.add(item);
    return at;
  }

  listItems<Item extends number>(list: ListOf<Item>): Item[] {
    return Array.from(this.tables.lists.items(list));
  }

  scope(parent: ScopeRow, kind: ValueOf<typeof ScopeKind>, symbol: SymbolRow = NONE): ScopeRow {
    const row = this.tables.scopes.add(parent, kind, symbol);
    if (exists(symbol)) this.setSymbol(symbol, "inner", row);
    return row;
  }

  /** Declares a symbol. Its name is not bound; `bind` does that. */
  symbol(input: SymbolInput): SymbolRow {
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
      input.value ?? NONE,
      -1,
      -1,
      -1,
      input.signature ? this.name(input.signature) : NONE,
      input.doc ? this.name(input.doc) : NONE,
      input.arity ?? -1,
    );
  }

  setSymbol<Column extends SymbolColumn>(symbol: SymbolRow, column: Column, value: SymbolValue<Column>): void {
    this.symbols.set(symbol, column, value);
  }

  /** The label of a symbol; undefined for no symbol. */
  labelOf(symbol: SymbolRow): SymbolLabel | undefined {
    return isNone(symbol) ? undefined : SYMBOL_LABELS[this.symbols.label(symbol)];
  }

  addFlag(symbol: SymbolRow, flag: number): void {
    this.setSymbol(symbol, "flags", this.symbols.flags(symbol) | flag);
  }

  /** Binds a symbol's name in a scope; by default under its own name, in its own scope. */
  bind(symbol: SymbolRow, scope = this.symbols.scope(symbol), name: NameRow = NONE): BindingRow {
    const text = exists(name) ? name : this.symbols.name(symbol);
    return this.tables.bindings.add(scope, text, BindingKind.Symbol, symbol, -1);
  }

  /** Binds a local variable, parameter or type parameter; `type` and `value` may be none. */
  local(
    scope: ScopeRow,
    name: string,
    type: TypeRow,
    value: ExprRow | TypeRow,
    kind: ValueOf<typeof BindingKind> = BindingKind.Local,
  ): BindingRow {
    return this.tables.bindings.add(scope, this.name(name), kind, type, value);
  }

  /** Declares the node of an import statement. @returns the `statement` for its `import` rows */
  importStatement({ scope, ...input }: ImportInput): SymbolRow {
    let outer = scope;
    while (exists(outer) && isNone(this.scopes.symbol(outer))) outer = this.scopes.parent(outer);
    const parent = isNone(outer) ? NONE : this.scopes.symbol(outer);
    return this.symbol({ label: "Import", parent, scope, ...input });
  }

  /** Declares the node of a decorator. @param owner the decorated symbol; none for the file */
  decorator(owner: SymbolRow, scope: ScopeRow, input: DecoratorInput): SymbolRow {
    return this.symbol({ label: "Decorator", parent: owner, scope, ...input });
  }

  /**
   * Records an import. If `local` is not empty, the name is bound in the scope.
   * @param statement the result of `importStatement`; none for names that are known without an import
   */
  import(
    kind: ValueOf<typeof ImportKind>,
    module: string,
    name: string,
    local: string,
    line: number,
    scope: ScopeRow,
    statement: SymbolRow = NONE,
  ): ImportRow {
    const row = this.tables.imports.add(
      kind,
      this.name(module),
      this.name(name),
      local ? this.name(local) : NONE,
      line,
      scope,
      statement,
    );
    if (local) this.tables.bindings.add(scope, this.name(local), BindingKind.Import, row, -1);
    return row;
  }

  /** Exports `name`. See ExportKind for `from` and `importRow`. */
  export(kind: ValueOf<typeof ExportKind>, name: string, from: number, importRow: ImportRow = NONE): void {
    this.tables.exports.add(kind, this.name(name), from, importRow);
  }

  expr(op: ValueOf<typeof Expr>, a = -1, b = -1, c = -1): ExprRow {
    return this.tables.exprs.add(op, a, b, c);
  }

  exprName(name: string, scope: ScopeRow): ExprRow {
    return this.expr(Expr.Name, this.name(name), scope);
  }

  exprMember(object: ExprRow, name: string): ExprRow {
    return this.expr(Expr.Member, object, this.name(name));
  }

  exprCall(callee: ExprRow, args: readonly ExprRow[]): ExprRow {
    return this.expr(Expr.Call, callee, this.list(args));
  }

  exprLiteral(builtin: string): ExprRow {
    return this.expr(Expr.Literal, this.name(builtin));
  }

  type(op: ValueOf<typeof Type>, a = -1, b = -1, c: TypeList = NONE): TypeRow {
    return this.tables.types.add(op, a, b, c);
  }

  typeRef(name: string, scope: ScopeRow, args: readonly TypeRow[] = []): TypeRow {
    return this.type(Type.Ref, this.name(name), scope, this.list(args));
  }

  /**
   * Records a call site. @param expr a Call or New row. @param symbol the nearest enclosing symbol; none at the top of
   * the file
   */
  call(expr: ExprRow, symbol: SymbolRow, line: number, flags = 0): void {
    this.tables.calls.add(expr, symbol, line, flags);
  }

  /** Records that a type is mentioned (in an annotation or a cast). */
  useType(type: TypeRow, symbol: SymbolRow, line: number): void {
    if (exists(type)) this.tables.uses.add(type, -1, symbol, line);
  }

  /** Records that a function, class or constant is used as a value: passed, assigned or returned. */
  useValue(expr: ExprRow, symbol: SymbolRow, line: number): void {
    if (exists(expr)) this.tables.uses.add(-1, expr, symbol, line);
  }

  /** Records that `symbol` extends or implements a type (`base`) or the value of an expression (`expr`). */
  heritage(
    symbol: SymbolRow,
    kind: ValueOf<typeof HeritageKind>,
    base: TypeRow,
    line: number,
    expr: ExprRow = NONE,
  ): void {
    this.tables.heritage.add(symbol, -1, kind, base, expr, line);
  }

  /** Records that the type `subject`, which is declared elsewhere, extends or implements `base`. */
  heritageOf(subject: TypeRow, kind: ValueOf<typeof HeritageKind>, base: TypeRow, line: number): void {
    this.tables.heritage.add(-1, subject, kind, base, -1, line);
  }

  /** Records that `symbol` is a member of a type that is declared elsewhere. */
  attach(symbol: SymbolRow, type: TypeRow): void {
    this.tables.attaches.add(symbol, type);
  }

  /**
   * Makes the names of a scope visible in every scope of this name space in the repository, and the other way round.
   */
  space(scope: ScopeRow, name: string): void {
    this.tables.spaces.add(scope, this.name(name));
  }

  /** Records an assignment of `expr` to `target` (a Name or Member row), apart from its declaration. */
  assign(target: ExprRow, expr: ExprRow, scope: ScopeRow): void {
    this.tables.assigns.add(target, expr, scope);
  }

  /**
   * Narrows a name within `scope`: it has the type `type`, or is an instance of the class `expr`. See `NarrowTable`.
   */
  narrow(scope: ScopeRow, name: string, type: TypeRow, expr: ExprRow = NONE): void {
    this.tables.narrows.add(scope, this.name(name), type, expr);
  }

  /**
   * @returns the facts, in the tables that were given
   * @param unread number of lines that the parser could not read
   * @param lines number of lines of the file
   * @param keys names that may be configuration keys
   */
  finish(unread: number, lines: number, keys: Uint8Array): FileFacts {
    return { ...this.tables, language: this.language, unread, lines, strings: this.strings, keys };
  }
}
