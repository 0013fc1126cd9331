/** Expressions. The meaning of values 1 to 3 depends on `op`; each column says for which ops it is. See `Expr`. */
import type { ExprList, ExprRow, ImportRow, NameRow, ScopeRow, SymbolRow, TypeList, TypeRow } from "../../rows.ts";
import { at, tableOf } from "./fact-table.ts";

const EXPR = {
  op: at(0),
  /** For Name and Literal. */
  name: at<NameRow>(1),
  /** For Name: the scope of the lookup. */
  nameScope: at<ScopeRow>(2),
  /** For Member and Index. */
  object: at<ExprRow>(1),
  /** For Member: the member's name. */
  member: at<NameRow>(2),
  /** For Index: a literal key, or none. */
  key: at<NameRow>(2),
  /** For Call and New. */
  callee: at<ExprRow>(1),
  /** For Call and New: the list of arguments. */
  args: at<ExprList>(2),
  /** For Call and New: the list of type arguments. */
  typeArgs: at<TypeList>(3),
  /** For This and Super. */
  thisScope: at<ScopeRow>(1),
  /** For This: the scope in which it is written. */
  readScope: at<ScopeRow>(2),
  /** For Iterate, Await and Rest. */
  operand: at<ExprRow>(1),
  /** For Either and Array. */
  list: at<ExprList>(1),
  /** For Object, Function and Class. */
  symbol: at<SymbolRow>(1),
  /** For Typed. */
  type: at<TypeRow>(1),
  /** For Typed and Assign. */
  value: at<ExprRow>(2),
  /** For Contextual. */
  source: at<ExprRow>(1),
  /** For Contextual. */
  argument: at(2),
  /** For Contextual. */
  parameter: at(3),
  /** For Module. */
  importRow: at<ImportRow>(1),
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
