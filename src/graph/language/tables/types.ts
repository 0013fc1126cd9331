/** Types as they are written: what the columns `a`, `b` and `c` hold depends on `op`; each read says for which it is. See `Type`. */
import { FactTable } from "./fact-table.ts";

const TYPE = { op: 0, a: 1, b: 2, c: 3, size: 4 } as const;

export class TypeTable extends FactTable {
  constructor(cells: Int32Array) {
    super(cells, TYPE.size);
  }

  op(row: number): number {
    return this.cells[row * TYPE.size + TYPE.op]!;
  }

  /** Of Ref and Literal. */
  name(row: number): number {
    return this.cells[row * TYPE.size + TYPE.a]!;
  }

  /** Of Ref. */
  scope(row: number): number {
    return this.cells[row * TYPE.size + TYPE.b]!;
  }

  /** Of Ref and Qualified: a list. */
  args(row: number): number {
    return this.cells[row * TYPE.size + TYPE.c]!;
  }

  /** Of Literal: a list. */
  literalArgs(row: number): number {
    return this.cells[row * TYPE.size + TYPE.b]!;
  }

  /** Of Qualified. */
  qualifier(row: number): number {
    return this.cells[row * TYPE.size + TYPE.a]!;
  }

  /** Of Qualified: a name. */
  member(row: number): number {
    return this.cells[row * TYPE.size + TYPE.b]!;
  }

  /** Of Union, Intersection and Tuple. */
  list(row: number): number {
    return this.cells[row * TYPE.size + TYPE.a]!;
  }

  /** Of Conditional. */
  checked(row: number): number {
    return this.cells[row * TYPE.size + TYPE.a]!;
  }

  /** Of Conditional: its `infer` names are type parameters of a scope of their own. */
  pattern(row: number): number {
    return this.cells[row * TYPE.size + TYPE.b]!;
  }

  /** Of Conditional: a list. */
  results(row: number): number {
    return this.cells[row * TYPE.size + TYPE.c]!;
  }

  /** Of Array. */
  element(row: number): number {
    return this.cells[row * TYPE.size + TYPE.a]!;
  }

  /** Of Function and Object. */
  symbol(row: number): number {
    return this.cells[row * TYPE.size + TYPE.a]!;
  }

  /** Of TypeOf. */
  expr(row: number): number {
    return this.cells[row * TYPE.size + TYPE.a]!;
  }

  /** Of This. */
  thisScope(row: number): number {
    return this.cells[row * TYPE.size + TYPE.a]!;
  }

  /** Of Indexed. */
  object(row: number): number {
    return this.cells[row * TYPE.size + TYPE.a]!;
  }

  /** Of Indexed: a member name, or -1. */
  key(row: number): number {
    return this.cells[row * TYPE.size + TYPE.b]!;
  }
}
