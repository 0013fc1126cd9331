/** Expressions: what the columns `a`, `b` and `c` hold depends on `op`; each read says for which it is. See `Expr`. */
import type { ExprList, ExprRow, ImportRow, NameRow, ScopeRow, SymbolRow, TypeList, TypeRow } from "../../rows.ts";
import { FactTable } from "./fact-table.ts";

const EXPR = { op: 0, a: 1, b: 2, c: 3, size: 4 } as const;

export class ExprTable extends FactTable<ExprRow> {
  constructor(cells: Int32Array) {
    super(cells, EXPR.size);
  }

  /** Makes a row another expression. */
  become(row: ExprRow, op: number, a: number, b: number): void {
    this.cells[row * EXPR.size + EXPR.op] = op;
    this.cells[row * EXPR.size + EXPR.a] = a;
    this.cells[row * EXPR.size + EXPR.b] = b;
  }

  setArgs(row: ExprRow, list: ExprList): void {
    this.cells[row * EXPR.size + EXPR.b] = list;
  }

  setTypeArgs(row: ExprRow, list: TypeList): void {
    this.cells[row * EXPR.size + EXPR.c] = list;
  }

  op(row: ExprRow): number {
    return this.rows[row * EXPR.size + EXPR.op]!;
  }

  /** Of Name and Literal. */
  name(row: ExprRow): NameRow {
    return this.rows[row * EXPR.size + EXPR.a]!;
  }

  /** Of Name: where it is looked up from. */
  nameScope(row: ExprRow): ScopeRow {
    return this.rows[row * EXPR.size + EXPR.b]!;
  }

  /** Of Member and Index. */
  object(row: ExprRow): ExprRow {
    return this.rows[row * EXPR.size + EXPR.a]!;
  }

  /** Of Member: its name. */
  member(row: ExprRow): NameRow {
    return this.rows[row * EXPR.size + EXPR.b]!;
  }

  /** Of Index: a literal key, or none. */
  key(row: ExprRow): NameRow {
    return this.rows[row * EXPR.size + EXPR.b]!;
  }

  /** Of Name and Member: whether it is called, where methods have names of their own; undefined where they have not. */
  called(row: ExprRow): boolean | undefined {
    const called: number = this.rows[row * EXPR.size + EXPR.c]!;
    return called < 0 ? undefined : called === 1;
  }

  /** Of Call and New. */
  callee(row: ExprRow): ExprRow {
    return this.rows[row * EXPR.size + EXPR.a]!;
  }

  /** Of Call and New: a list. */
  args(row: ExprRow): ExprList {
    return this.rows[row * EXPR.size + EXPR.b]!;
  }

  /** Of Call and New: a list. */
  typeArgs(row: ExprRow): TypeList {
    return this.rows[row * EXPR.size + EXPR.c]!;
  }

  /** Of This and Super. */
  thisScope(row: ExprRow): ScopeRow {
    return this.rows[row * EXPR.size + EXPR.a]!;
  }

  /** Of This: where it is written. */
  readScope(row: ExprRow): ScopeRow {
    return this.rows[row * EXPR.size + EXPR.b]!;
  }

  /** Of Iterate, Await and Rest. */
  operand(row: ExprRow): ExprRow {
    return this.rows[row * EXPR.size + EXPR.a]!;
  }

  /** Of Either and Array. */
  list(row: ExprRow): ExprList {
    return this.rows[row * EXPR.size + EXPR.a]!;
  }

  /** Of Object, Function and Class. */
  symbol(row: ExprRow): SymbolRow {
    return this.rows[row * EXPR.size + EXPR.a]!;
  }

  /** Of Typed. */
  type(row: ExprRow): TypeRow {
    return this.rows[row * EXPR.size + EXPR.a]!;
  }

  /** Of Typed and Assign. */
  value(row: ExprRow): ExprRow {
    return this.rows[row * EXPR.size + EXPR.b]!;
  }

  /** Of Contextual. */
  source(row: ExprRow): ExprRow {
    return this.rows[row * EXPR.size + EXPR.a]!;
  }

  /** Of Contextual. */
  argument(row: ExprRow): number {
    return this.rows[row * EXPR.size + EXPR.b]!;
  }

  /** Of Contextual. */
  parameter(row: ExprRow): number {
    return this.rows[row * EXPR.size + EXPR.c]!;
  }

  /** Of Module. */
  importRow(row: ExprRow): ImportRow {
    return this.rows[row * EXPR.size + EXPR.a]!;
  }
}
