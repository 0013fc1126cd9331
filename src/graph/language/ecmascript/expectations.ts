/** What is expected of an expression, by what is declared around it. */
import { type ExprRow, isNone, NONE, type TypeRow } from "../../rows.ts";
import { Expr } from "../fact-layout.ts";
import type { Expected, FunctionOptions, Walk } from "./context.ts";

/** An expectation that is made at most once. */
export function expect(make: () => ExprRow): Expected {
  let row: ExprRow = NONE;
  return () => {
    if (isNone(row)) row = make();
    return row;
  };
}

/** A declared type as an expectation; undefined where nothing is declared. */
export function expectType(walk: Walk, type: TypeRow): Expected | undefined {
  return isNone(type) ? undefined : expect(() => walk.facts.expr(Expr.Typed, type));
}

/** How a function is typed where it stands for `expected`. */
export function functionOf(
  walk: Walk,
  expected: Expected | undefined,
): Pick<FunctionOptions, "contextual" | "returning"> {
  if (!expected) return {};
  const { facts } = walk;
  return {
    contextual: (parameter) => facts.expr(Expr.Contextual, expected(), -1, parameter),
    returning: expect(() => facts.exprCall(expected(), [])),
  };
}
