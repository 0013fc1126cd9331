/** What is called, used, inherited, assigned and tested, and where. */
import type { ExprRow, NameRow, ScopeRow, SymbolRow, TypeRow } from "../../rows.ts";
import { FactTable } from "./fact-table.ts";

const CALL = { expr: 0, symbol: 1, line: 2, flags: 3, size: 4 } as const;

export class CallTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, CALL.size);
  }

  expr(row: number): ExprRow {
    return this.rows[row * CALL.size + CALL.expr]!;
  }

  symbol(row: number): SymbolRow {
    return this.rows[row * CALL.size + CALL.symbol]!;
  }

  line(row: number): number {
    return this.rows[row * CALL.size + CALL.line]!;
  }

  flags(row: number): number {
    return this.rows[row * CALL.size + CALL.flags]!;
  }
}

/** A type mentioned, or a function or class used as a value. Exactly one of `type` and `expr` is set. */
const USE = { type: 0, expr: 1, symbol: 2, line: 3, size: 4 } as const;

export class UseTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, USE.size);
  }

  type(row: number): TypeRow {
    return this.rows[row * USE.size + USE.type]!;
  }

  expr(row: number): ExprRow {
    return this.rows[row * USE.size + USE.expr]!;
  }

  symbol(row: number): SymbolRow {
    return this.rows[row * USE.size + USE.symbol]!;
  }

  line(row: number): number {
    return this.rows[row * USE.size + USE.line]!;
  }
}

/** `symbol` -1: the subject is the type `subject` (Rust's `impl T for S`). `type` or `expr` names the base. */
const HERITAGE = { symbol: 0, subject: 1, kind: 2, type: 3, expr: 4, line: 5, size: 6 } as const;

export class HeritageTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, HERITAGE.size);
  }

  symbol(row: number): SymbolRow {
    return this.rows[row * HERITAGE.size + HERITAGE.symbol]!;
  }

  subject(row: number): TypeRow {
    return this.rows[row * HERITAGE.size + HERITAGE.subject]!;
  }

  kind(row: number): number {
    return this.rows[row * HERITAGE.size + HERITAGE.kind]!;
  }

  type(row: number): TypeRow {
    return this.rows[row * HERITAGE.size + HERITAGE.type]!;
  }

  expr(row: number): ExprRow {
    return this.rows[row * HERITAGE.size + HERITAGE.expr]!;
  }

  line(row: number): number {
    return this.rows[row * HERITAGE.size + HERITAGE.line]!;
  }
}

/** A member declared outside its type: Go methods, Rust impls, C++ out-of-line, `X.prototype.m = …`. */
const ATTACH = { symbol: 0, type: 1, size: 2 } as const;

export class AttachTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, ATTACH.size);
  }

  symbol(row: number): SymbolRow {
    return this.rows[row * ATTACH.size + ATTACH.symbol]!;
  }

  type(row: number): TypeRow {
    return this.rows[row * ATTACH.size + ATTACH.type]!;
  }
}

/**
 * A scope whose names are shared with every scope of that space: Go package, Java package, C# namespace. A name that
 * begins with `#MACRO` is in the space that the macro opens; scope -1 with the name `#MACRO=space` says which that is.
 */
const SPACE = { scope: 0, name: 1, size: 2 } as const;

export class SpaceTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, SPACE.size);
  }

  scope(row: number): ScopeRow {
    return this.rows[row * SPACE.size + SPACE.scope]!;
  }

  name(row: number): NameRow {
    return this.rows[row * SPACE.size + SPACE.name]!;
  }
}

/** `target`, a Name or Member expression in `scope`, is also assigned `expr`. */
const ASSIGN = { target: 0, expr: 1, scope: 2, size: 3 } as const;

export class AssignTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, ASSIGN.size);
  }

  target(row: number): ExprRow {
    return this.rows[row * ASSIGN.size + ASSIGN.target]!;
  }

  expr(row: number): ExprRow {
    return this.rows[row * ASSIGN.size + ASSIGN.expr]!;
  }

  scope(row: number): ScopeRow {
    return this.rows[row * ASSIGN.size + ASSIGN.scope]!;
  }
}

/**
 * Within `scope`, the name (or dotted path, as written) `name` has the type `type`; or, with `type` -1, what the
 * class expression `expr` makes (instanceof, isinstance), or what the type guard called by the Call row `expr` promises.
 */
const NARROW = { scope: 0, name: 1, type: 2, expr: 3, size: 4 } as const;

export class NarrowTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, NARROW.size);
  }

  scope(row: number): ScopeRow {
    return this.rows[row * NARROW.size + NARROW.scope]!;
  }

  name(row: number): NameRow {
    return this.rows[row * NARROW.size + NARROW.name]!;
  }

  type(row: number): TypeRow {
    return this.rows[row * NARROW.size + NARROW.type]!;
  }

  expr(row: number): ExprRow {
    return this.rows[row * NARROW.size + NARROW.expr]!;
  }
}
