/**
 * Expressions where a type is expected of them. What is expected is handed down through literals to the functions in
 * them, whose parameters it types: `const c: Config = { hooks: [({ request }) => …] }`.
 */
import { type ExprRow, isNone, type TreeNode } from "../../rows.ts";
import { Expr } from "../fact-layout.ts";
import { type Context, type Expected, isLambda, type Walk } from "./context.ts";
import { expect, functionOf } from "./expectations.ts";
import { lambda, objectLiteral } from "./literals.ts";
import { narrowed } from "./narrowing.ts";

/** Turns an expression node into an expression row; `expected` says what it should be. */
export function expectedFact(walk: Walk, node: TreeNode, context: Context, expected: Expected | undefined): ExprRow {
  const { tree, facts } = walk;
  if (!expected || isNone(node)) return walk.expression(node, context);
  const kind = tree.kind(node);
  if (isLambda(kind)) return lambda(walk, node, context, functionOf(walk, expected));
  switch (kind) {
    case "object":
      return objectLiteral(walk, node, context, expected);
    case "array": {
      const element = expect(() => facts.expr(Expr.Iterate, expected()));
      const items = tree.namedChildren(node).map((child) => expectedFact(walk, child, context, element));
      return facts.expr(Expr.Array, facts.list(items));
    }
    case "parenthesized_expression":
      return expectedFact(walk, tree.firstNamed(node), context, expected);
    case "ternary_expression": {
      const condition = tree.child(node, "condition");
      walk.expression(condition, context);
      const yes = expectedFact(walk, tree.child(node, "consequence"), narrowed(walk, condition, context), expected);
      const no = expectedFact(walk, tree.child(node, "alternative"), context, expected);
      return facts.expr(Expr.Either, facts.list([yes, no]));
    }
    default:
      return walk.expression(node, context);
  }
}
