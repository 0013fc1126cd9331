/** Expressions: what the columns `a`, `b` and `c` hold depends on `op`; each read says for which it is. See `Expr`. */
import { FactTable } from "./fact-table.ts";

const EXPR = { op: 0, a: 1, b: 2, c: 3, size: 4 } as const;

export class ExprTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, EXPR.size);
  }

  /** Makes a row another expression. */
  become(row: number, op: number, a: number, b: number): void {
    this.cells[row * EXPR.size + EXPR.op] = op;
    this.cells[row * EXPR.size + EXPR.a] = a;
    this.cells[row * EXPR.size + EXPR.b] = b;
  }

  setArgs(row: number, list: number): void {
    this.cells[row * EXPR.size + EXPR.b] = list;
  }

  setTypeArgs(row: number, list: number): void {
    this.cells[row * EXPR.size + EXPR.c] = list;
  }

  op(row: number): number {
    return this.cells[row * EXPR.size + EXPR.op]!;
  }

  /** Of Name and Literal. */
  name(row: number): number {
    return this.cells[row * EXPR.size + EXPR.a]!;
  }

  /** Of Name: where it is looked up from. */
  nameScope(row: number): number {
    return this.cells[row * EXPR.size + EXPR.b]!;
  }

  /** Of Member and Index. */
  object(row: number): number {
    return this.cells[row * EXPR.size + EXPR.a]!;
  }

  /** Of Member: its name. */
  member(row: number): number {
    return this.cells[row * EXPR.size + EXPR.b]!;
  }

  /** Of Index: a literal key, or -1. */
  key(row: number): number {
    return this.cells[row * EXPR.size + EXPR.b]!;
  }

  /** Of Name and Member: whether it is called, where methods have names of their own; undefined where they have not. */
  called(row: number): boolean | undefined {
    const called = this.cells[row * EXPR.size + EXPR.c]!;
    return called < 0 ? undefined : called === 1;
  }

  /** Of Call and New. */
  callee(row: number): number {
    return this.cells[row * EXPR.size + EXPR.a]!;
  }

  /** Of Call and New: a list. */
  args(row: number): number {
    return this.cells[row * EXPR.size + EXPR.b]!;
  }

  /** Of Call and New: a list. */
  typeArgs(row: number): number {
    return this.cells[row * EXPR.size + EXPR.c]!;
  }

  /** Of This and Super. */
  thisScope(row: number): number {
    return this.cells[row * EXPR.size + EXPR.a]!;
  }

  /** Of This: where it is written. */
  readScope(row: number): number {
    return this.cells[row * EXPR.size + EXPR.b]!;
  }

  /** Of Iterate, Await and Rest. */
  operand(row: number): number {
    return this.cells[row * EXPR.size + EXPR.a]!;
  }

  /** Of Either and Array. */
  list(row: number): number {
    return this.cells[row * EXPR.size + EXPR.a]!;
  }

  /** Of Object, Function and Class. */
  symbol(row: number): number {
    return this.cells[row * EXPR.size + EXPR.a]!;
  }

  /** Of Typed. */
  type(row: number): number {
    return this.cells[row * EXPR.size + EXPR.a]!;
  }

  /** Of Typed and Assign. */
  value(row: number): number {
    return this.cells[row * EXPR.size + EXPR.b]!;
  }

  /** Of Contextual. */
  source(row: number): number {
    return this.cells[row * EXPR.size + EXPR.a]!;
  }

  /** Of Contextual. */
  argument(row: number): number {
    return this.cells[row * EXPR.size + EXPR.b]!;
  }

  /** Of Contextual. */
  parameter(row: number): number {
    return this.cells[row * EXPR.size + EXPR.c]!;
  }

  /** Of Module. */
  importRow(row: number): number {
    return this.cells[row * EXPR.size + EXPR.a]!;
  }
}
