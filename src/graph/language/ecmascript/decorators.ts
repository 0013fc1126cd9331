/** Decorators of TypeScript and JavaScript: expressions that are walked where they stand, and nodes of what they decorate. */
import { type ExprRow, isNone, type ScopeRow, type SymbolRow, type TreeNode } from "../../rows.ts";
import { SymbolFlag } from "../fact-layout.ts";
import { oneLine } from "../one-line.ts";
import type { Context, Walk } from "./context.ts";

/** A decorator whose expression was walked. */
export interface Written {
  node: TreeNode;
  /** Row of its expression. */
  row: ExprRow;
}

/** Walks the decorators that are children of a node. */
export function decoratorsIn(walk: Walk, node: TreeNode, context: Context): Written[] {
  const { tree } = walk;
  const nodes = tree.namedChildren(node).filter((child) => tree.kind(child) === "decorator");
  return nodes.map((one) => ({ node: one, row: walk.expression(tree.firstNamed(one), context) }));
}

/** Declares the nodes of a symbol's decorators. */
export function noteDecorators(walk: Walk, owner: SymbolRow, scope: ScopeRow, written: readonly Written[]): void {
  const { tree, facts } = walk;
  if (written.length === 0 || isNone(owner) || facts.symbols.flags(owner) & SymbolFlag.Hidden) return;
  for (const { node, row } of written) {
    const inner = tree.firstNamed(node);
    const called = tree.kind(inner) === "call_expression" ? tree.child(inner, "function") : inner;
    facts.decorator(owner, scope, {
      name: oneLine(tree.source(called)),
      startLine: tree.line(node),
      endLine: tree.endLine(node),
      signature: oneLine(tree.source(node)),
      value: row,
    });
  }
}

/** Decorators that stood before the declaration that follows them: taken once. */
export function takeDecorators(walk: Walk): Written[] {
  const { decorators } = walk;
  walk.decorators = [];
  return decorators;
}
