/**
 * Types as written in the source. The meaning of values 1 to 3 depends on `op`; each column says for which ops it is.
 * See `Type`.
 */
import type { ExprRow, NameRow, ScopeRow, SymbolRow, TypeList, TypeRow } from "../../rows.ts";
import { at, tableOf } from "./fact-table.ts";

export const TypeTable = tableOf<TypeRow>()({
  op: at(0),
  /** For Ref and Literal. */
  name: at<NameRow>(1),
  /** For Ref. */
  scope: at<ScopeRow>(2),
  /** For Ref and Qualified: a list. */
  args: at<TypeList>(3),
  /** For Literal: a list. */
  literalArgs: at<TypeList>(2),
  /** For Qualified. */
  qualifier: at<TypeRow>(1),
  /** For Qualified: a name. */
  member: at<NameRow>(2),
  /** For Union, Intersection and Tuple. */
  list: at<TypeList>(1),
  /** For Conditional. */
  checked: at<TypeRow>(1),
  /** For Conditional. Its `infer` names are type parameters of a separate scope. */
  pattern: at<TypeRow>(2),
  /** For Conditional: a list. */
  results: at<TypeList>(3),
  /** For Array. */
  element: at<TypeRow>(1),
  /** For Function and Object. */
  symbol: at<SymbolRow>(1),
  /** For TypeOf. */
  expr: at<ExprRow>(1),
  /** For This. */
  thisScope: at<ScopeRow>(1),
  /** For Indexed. */
  object: at<TypeRow>(1),
  /** For Indexed: a member name, or none. */
  key: at<NameRow>(2),
});
