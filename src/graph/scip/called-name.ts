import { Expr } from "../language/fact-layout.ts";
import type { FileFacts } from "../language/facts.ts";
import { isNone } from "../rows.ts";

/** The name in the source of a call. "" if the call names nothing, such as a call of another call's result. */
export function calledName({ calls, exprs, strings }: FileFacts, row: number): string {
  const expr = calls.expr(row);
  const made = exprs.op(expr) === Expr.Call || exprs.op(expr) === Expr.New;
  const callee = made ? exprs.callee(expr) : expr;
  if (isNone(callee)) return "";
  const op = exprs.op(callee);
  if (op !== Expr.Name && op !== Expr.Member) return "";
  return strings[op === Expr.Name ? exprs.name(callee) : exprs.member(callee)] ?? "";
}
