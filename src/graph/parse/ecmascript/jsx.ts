/** JSX tags: what they name and what stands in their braces. */
import type { Context, Walk } from "./context.ts";

/** JSX: a component named in a tag is used, not called: its caller is the framework. */
export function jsx(walk: Walk, node: number, context: Context): void {
  const { tree } = walk;
  for (const child of tree.namedChildren(node)) {
    const kind = tree.kind(child);
    if (kind === "jsx_opening_element") jsx(walk, child, context);
    else if (kind === "identifier") {
      if (/^[A-Z]/.test(tree.source(child))) walk.expression(child, context);
    } else if (kind === "member_expression") walk.expression(child, context);
    else if (kind === "jsx_attribute") {
      for (const part of tree.namedChildren(child))
        if (/^jsx_(expression|element|self|frag)/.test(tree.kind(part))) jsxValue(walk, part, context);
    } else if (
      kind === "jsx_expression" ||
      kind.startsWith("jsx_element") ||
      kind === "jsx_self_closing_element" ||
      kind === "jsx_fragment"
    ) {
      jsxValue(walk, child, context);
    }
  }
}

function jsxValue(walk: Walk, node: number, context: Context): void {
  if (walk.tree.kind(node) === "jsx_expression") {
    for (const child of walk.tree.namedChildren(node)) {
      walk.expression(walk.tree.kind(child) === "spread_element" ? walk.tree.firstNamed(child) : child, context);
    }
  } else jsx(walk, node, context);
}
