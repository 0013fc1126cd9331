/** Types as they are written: what stands at the places 1 to 3 depends on `op`; each column says for which it is. See `Type`. */
import type { ExprRow, NameRow, ScopeRow, SymbolRow, TypeList, TypeRow } from "../../rows.ts";
import { at, tableOf } from "./fact-table.ts";

export const TypeTable = tableOf<TypeRow>()({
  op: at(0),
  /** Of Ref and Literal. */
  name: at<NameRow>(1),
  /** Of Ref. */
  scope: at<ScopeRow>(2),
  /** Of Ref and Qualified: a list. */
  args: at<TypeList>(3),
  /** Of Literal: a list. */
  literalArgs: at<TypeList>(2),
  /** Of Qualified. */
  qualifier: at<TypeRow>(1),
  /** Of Qualified: a name. */
  member: at<NameRow>(2),
  /** Of Union, Intersection and Tuple. */
  list: at<TypeList>(1),
  /** Of Conditional. */
  checked: at<TypeRow>(1),
  /** Of Conditional: its `infer` names are type parameters of a scope of their own. */
  pattern: at<TypeRow>(2),
  /** Of Conditional: a list. */
  results: at<TypeList>(3),
  /** Of Array. */
  element: at<TypeRow>(1),
  /** Of Function and Object. */
  symbol: at<SymbolRow>(1),
  /** Of TypeOf. */
  expr: at<ExprRow>(1),
  /** Of This. */
  thisScope: at<ScopeRow>(1),
  /** Of Indexed. */
  object: at<TypeRow>(1),
  /** Of Indexed: a member name, or none. */
  key: at<NameRow>(2),
});
