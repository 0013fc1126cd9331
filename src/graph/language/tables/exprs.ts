/** Expressions: what stands at the places 1 to 3 depends on `op`; each column says for which it is. See `Expr`. */
import type { ExprList, ExprRow, ImportRow, NameRow, ScopeRow, SymbolRow, TypeList, TypeRow } from "../../rows.ts";
import { at, tableOf } from "./fact-table.ts";

const EXPR = {
  op: at(0),
  /** Of Name and Literal. */
  name: at<NameRow>(1),
  /** Of Name: where it is looked up from. */
  nameScope: at<ScopeRow>(2),
  /** Of Member and Index. */
  object: at<ExprRow>(1),
  /** Of Member: its name. */
  member: at<NameRow>(2),
  /** Of Index: a literal key, or none. */
  key: at<NameRow>(2),
  /** Of Call and New. */
  callee: at<ExprRow>(1),
  /** Of Call and New: a list. */
  args: at<ExprList>(2),
  /** Of Call and New: a list. */
  typeArgs: at<TypeList>(3),
  /** Of This and Super. */
  thisScope: at<ScopeRow>(1),
  /** Of This: where it is written. */
  readScope: at<ScopeRow>(2),
  /** Of Iterate, Await and Rest. */
  operand: at<ExprRow>(1),
  /** Of Either and Array. */
  list: at<ExprList>(1),
  /** Of Object, Function and Class. */
  symbol: at<SymbolRow>(1),
  /** Of Typed. */
  type: at<TypeRow>(1),
  /** Of Typed and Assign. */
  value: at<ExprRow>(2),
  /** Of Contextual. */
  source: at<ExprRow>(1),
  /** Of Contextual. */
  argument: at(2),
  /** Of Contextual. */
  parameter: at(3),
  /** Of Module. */
  importRow: at<ImportRow>(1),
};

/** Of Name and Member. */
const CALLED = 3;

export class ExprTable extends tableOf<ExprRow>()(EXPR) {
  /** Makes a row another expression. */
  become(row: ExprRow, op: number, a: number, b: number): void {
    this.cells.set([op, a, b], row * this.size);
  }

  setArgs(row: ExprRow, list: ExprList): void {
    this.cells[row * this.size + EXPR.args] = list;
  }

  setTypeArgs(row: ExprRow, list: TypeList): void {
    this.cells[row * this.size + EXPR.typeArgs] = list;
  }

  /** Of Name and Member: whether it is called, where methods have names of their own; undefined where they have not. */
  called(row: ExprRow): boolean | undefined {
    const called: number = this.rows[row * this.size + CALLED]!;
    return called < 0 ? undefined : called === 1;
  }
}
