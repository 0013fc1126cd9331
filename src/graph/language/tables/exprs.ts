/** Expressions. The meaning of values 1 to 3 depends on `op`; each column says for which ops it is. See `Expr`. */
import type { ExprList, ExprRow, ImportRow, NameRow, ScopeRow, SymbolRow, TypeList, TypeRow } from "../../rows.ts";
import { defineColumn, tableOf } from "./fact-table.ts";

const EXPR = {
  op: defineColumn(0),
  /** For Name and Literal. */
  name: defineColumn<NameRow>(1),
  /** For Name: the scope of the lookup. */
  nameScope: defineColumn<ScopeRow>(2),
  /** For Member and Index. */
  object: defineColumn<ExprRow>(1),
  /** For Member: the member's name. */
  member: defineColumn<NameRow>(2),
  /** For Index: a literal key, or none. */
  key: defineColumn<NameRow>(2),
  /** For Call and New. */
  callee: defineColumn<ExprRow>(1),
  /** For Call and New: the list of arguments. */
  args: defineColumn<ExprList>(2),
  /** For Call and New: the list of type arguments. */
  typeArgs: defineColumn<TypeList>(3),
  /** For This and Super. */
  thisScope: defineColumn<ScopeRow>(1),
  /** For This: the scope in which it is written. */
  readScope: defineColumn<ScopeRow>(2),
  /** For Iterate, Await and Rest. */
  operand: defineColumn<ExprRow>(1),
  /** For Either and Array. */
  list: defineColumn<ExprList>(1),
  /** For Object, Function and Class. */
  symbol: defineColumn<SymbolRow>(1),
  /** For Typed. */
  type: defineColumn<TypeRow>(1),
  /** For Typed and Assign. */
  value: defineColumn<ExprRow>(2),
  /** For Contextual. */
  source: defineColumn<ExprRow>(1),
  /** For Contextual. */
  argument: defineColumn(2),
  /** For Contextual. */
  parameter: defineColumn(3),
  /** For Module. */
  importRow: defineColumn<ImportRow>(1),
};

/** For Name and Member: the place of the value that `called` reads. */
const CALLED = 3;

export class ExprTable extends tableOf<ExprRow>()(EXPR) {
  /** Replaces a row by another expression. */
  become(row: ExprRow, op: number, a: number, b: number): void {
    this.cells.set([op, a, b], row * this.size);
  }

  setArgs(row: ExprRow, list: ExprList): void {
    this.cells[row * this.size + EXPR.args] = list;
  }

  setTypeArgs(row: ExprRow, list: TypeList): void {
    this.cells[row * this.size + EXPR.typeArgs] = list;
  }

  /**
   * For Name and Member: whether the name is called, in languages where methods have separate names; otherwise
   * undefined.
   */
  isCalled(row: ExprRow): boolean | undefined {
    const called: number = this.rows[row * this.size + CALLED]!;
    return called < 0 ? undefined : called === 1;
  }
}
