/** What a condition says about the names it tests, for the code that runs only if it holds. */
import { type ExprRow, exists, isNone, NONE, type TreeNode } from "../../rows.ts";
import { Expr, ScopeKind } from "../fact-layout.ts";
import type { Context, Walk } from "./context.ts";

/**
 * A context that knows what a condition tests: `x instanceof C`, `isC(x)`, joined by `&&`. The given context if the
 * condition tests nothing like that.
 */
export function narrowed(walk: Walk, condition: TreeNode, context: Context): Context {
  const { tree, facts } = walk;
  const tests: TreeNode[] = [];
  collectTests(walk, condition, tests);
  if (tests.length === 0) return context;
  const scope = facts.scope(context.scope, ScopeKind.Block);
  for (const test of tests) {
    // The condition itself has been walked; its parts are described again without recording calls or uses.
    if (tree.kind(test) === "binary_expression") {
      const right = tree.child(test, "right");
      facts.narrow(scope, tree.source(tree.child(test, "left")), NONE, describe(walk, right, context));
    } else {
      const args = tree.child(test, "arguments");
      const callee = describe(walk, tree.child(test, "function"), context);
      if (exists(callee)) facts.narrow(scope, tree.source(tree.firstNamed(args)), NONE, facts.exprCall(callee, []));
    }
  }
  return { ...context, scope };
}

function collectTests(walk: Walk, node: TreeNode, tests: TreeNode[]): void {
  const { tree } = walk;
  const kind = tree.kind(node);
  if (kind === "parenthesized_expression") collectTests(walk, tree.firstNamed(node), tests);
  else if (kind === "binary_expression") {
    const operator = tree.kind(tree.child(node, "operator"));
    if (operator === "&&") {
      collectTests(walk, tree.child(node, "left"), tests);
      collectTests(walk, tree.child(node, "right"), tests);
    } else if (operator === "instanceof") tests.push(node);
  } else if (kind === "call_expression") {
    const args = tree.child(node, "arguments");
    const first = isNone(args) ? NONE : tree.firstNamed(args);
    if (exists(first) && /^(identifier|member_expression|this)$/.test(tree.kind(first))) tests.push(node);
  }
}

/** A name or a path of members as an expression row, noting nothing; none for anything else. */
function describe(walk: Walk, node: TreeNode, context: Context): ExprRow {
  const { tree, facts } = walk;
  switch (tree.kind(node)) {
    case "identifier":
      return facts.exprName(tree.source(node), context.scope);
    case "this":
      return facts.expr(Expr.This, context.thisScope);
    case "member_expression": {
      const object = describe(walk, tree.child(node, "object"), context);
      return isNone(object) ? NONE : facts.exprMember(object, tree.source(tree.child(node, "property")));
    }
    default:
      return NONE;
  }
}
