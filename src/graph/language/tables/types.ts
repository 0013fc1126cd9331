/** Types as they are written: what the columns `a`, `b` and `c` hold depends on `op`; each read says for which it is. See `Type`. */
import type { ExprRow, NameRow, ScopeRow, SymbolRow, TypeList, TypeRow } from "../../rows.ts";
import { FactTable } from "./fact-table.ts";

const TYPE = { op: 0, a: 1, b: 2, c: 3, size: 4 } as const;

export class TypeTable extends FactTable<TypeRow> {
  constructor(cells: Int32Array) {
    super(cells, TYPE.size);
  }

  op(row: TypeRow): number {
    return this.rows[row * TYPE.size + TYPE.op]!;
  }

  /** Of Ref and Literal. */
  name(row: TypeRow): NameRow {
    return this.rows[row * TYPE.size + TYPE.a]!;
  }

  /** Of Ref. */
  scope(row: TypeRow): ScopeRow {
    return this.rows[row * TYPE.size + TYPE.b]!;
  }

  /** Of Ref and Qualified: a list. */
  args(row: TypeRow): TypeList {
    return this.rows[row * TYPE.size + TYPE.c]!;
  }

  /** Of Literal: a list. */
  literalArgs(row: TypeRow): TypeList {
    return this.rows[row * TYPE.size + TYPE.b]!;
  }

  /** Of Qualified. */
  qualifier(row: TypeRow): TypeRow {
    return this.rows[row * TYPE.size + TYPE.a]!;
  }

  /** Of Qualified: a name. */
  member(row: TypeRow): NameRow {
    return this.rows[row * TYPE.size + TYPE.b]!;
  }

  /** Of Union, Intersection and Tuple. */
  list(row: TypeRow): TypeList {
    return this.rows[row * TYPE.size + TYPE.a]!;
  }

  /** Of Conditional. */
  checked(row: TypeRow): TypeRow {
    return this.rows[row * TYPE.size + TYPE.a]!;
  }

  /** Of Conditional: its `infer` names are type parameters of a scope of their own. */
  pattern(row: TypeRow): TypeRow {
    return this.rows[row * TYPE.size + TYPE.b]!;
  }

  /** Of Conditional: a list. */
  results(row: TypeRow): TypeList {
    return this.rows[row * TYPE.size + TYPE.c]!;
  }

  /** Of Array. */
  element(row: TypeRow): TypeRow {
    return this.rows[row * TYPE.size + TYPE.a]!;
  }

  /** Of Function and Object. */
  symbol(row: TypeRow): SymbolRow {
    return this.rows[row * TYPE.size + TYPE.a]!;
  }

  /** Of TypeOf. */
  expr(row: TypeRow): ExprRow {
    return this.rows[row * TYPE.size + TYPE.a]!;
  }

  /** Of This. */
  thisScope(row: TypeRow): ScopeRow {
    return this.rows[row * TYPE.size + TYPE.a]!;
  }

  /** Of Indexed. */
  object(row: TypeRow): TypeRow {
    return this.rows[row * TYPE.size + TYPE.a]!;
  }

  /** Of Indexed: a member name, or none. */
  key(row: TypeRow): NameRow {
    return this.rows[row * TYPE.size + TYPE.b]!;
  }
}
