/**
 * Types as written in the source. The meaning of values 1 to 3 depends on `op`; each column says for which ops it is.
 * See `Type`.
 */
import type { ExprRow, NameRow, ScopeRow, SymbolRow, TypeList, TypeRow } from "../../rows.ts";
import { defineColumn, tableOf } from "./fact-table.ts";

export const TypeTable = tableOf<TypeRow>()({
  op: defineColumn(0),
  /** For Ref and Literal. */
  name: defineColumn<NameRow>(1),
  /** For Ref. */
  scope: defineColumn<ScopeRow>(2),
  /** For Ref and Qualified: a list. */
  args: defineColumn<TypeList>(3),
  /** For Literal: a list. */
  literalArgs: defineColumn<TypeList>(2),
  /** For Qualified. */
  qualifier: defineColumn<TypeRow>(1),
  /** For Qualified: a name. */
  member: defineColumn<NameRow>(2),
  /** For Union, Intersection and Tuple. */
  list: defineColumn<TypeList>(1),
  /** For Conditional. */
  checked: defineColumn<TypeRow>(1),
  /** For Conditional. Its `infer` names are type parameters of a separate scope. */
  pattern: defineColumn<TypeRow>(2),
  /** For Conditional: a list. */
  results: defineColumn<TypeList>(3),
  /** For Array. */
  element: defineColumn<TypeRow>(1),
  /** For Function and Object. */
  symbol: defineColumn<SymbolRow>(1),
  /** For TypeOf. */
  expr: defineColumn<ExprRow>(1),
  /** For This. */
  thisScope: defineColumn<ScopeRow>(1),
  /** For Indexed. */
  object: defineColumn<TypeRow>(1),
  /** For Indexed: a member name, or none. */
  key: defineColumn<NameRow>(2),
});
