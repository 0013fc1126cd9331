/** JSX tags: what they name and what stands in their braces. */
import { type ExprRow, isNone, NONE, type TreeNode } from "../../rows.ts";
import { Expr } from "../fact-layout.ts";
import type { Context, Expected, Walk } from "./context.ts";
import { expect } from "./expectations.ts";

/** JSX: a component named in a tag is used, not called: its caller is the framework. */
export function jsx(walk: Walk, node: TreeNode, context: Context): void {
  const { tree, facts } = walk;
  let component: ExprRow = NONE;
  for (const child of tree.namedChildren(node)) {
    const kind = tree.kind(child);
    if (kind === "jsx_opening_element") jsx(walk, child, context);
    else if (kind === "identifier") {
      if (/^[A-Z]/.test(tree.source(child))) component = walk.expression(child, context);
    } else if (kind === "member_expression") component = walk.expression(child, context);
    else if (kind === "jsx_attribute") {
      const of = component;
      const name = tree.source(tree.firstNamed(child));
      // An attribute is a member of the component's first parameter.
      const expected = isNone(of)
        ? undefined
        : expect(() => facts.exprMember(facts.expr(Expr.Contextual, of, -1, 0), name));
      for (const part of tree.namedChildren(child))
        if (/^jsx_(expression|element|self|frag)/.test(tree.kind(part))) jsxValue(walk, part, context, expected);
    } else if (
      kind === "jsx_expression" ||
      kind.startsWith("jsx_element") ||
      kind === "jsx_self_closing_element" ||
      kind === "jsx_fragment"
    ) {
      jsxValue(walk, child, context, undefined);
    }
  }
}

function jsxValue(walk: Walk, node: TreeNode, context: Context, expected: Expected | undefined): void {
  const { tree } = walk;
  if (tree.kind(node) === "jsx_expression") {
    for (const child of tree.namedChildren(node)) {
      walk.expected(tree.kind(child) === "spread_element" ? tree.firstNamed(child) : child, context, expected);
    }
  } else jsx(walk, node, context);
}
