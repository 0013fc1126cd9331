/** Functions and objects as values. */
import { type ExprRow, exists, NONE, type ScopeRow, type TreeNode } from "../../rows.ts";
import { Expr, HeritageKind, ScopeKind, SymbolFlag } from "../fact-layout.ts";
import {
  type Context,
  type Expected,
  type FunctionOptions,
  isLambda,
  literalHolder,
  signatureOf,
  type Walk,
} from "./context.ts";
import { expect, functionOf } from "./expectations.ts";
import { memberName } from "./types.ts";

/** An anonymous function as a value: a hidden symbol, whose calls belong to the symbol around it. */
export function lambda(
  walk: Walk,
  node: TreeNode,
  context: Context,
  typed: Pick<FunctionOptions, "contextual" | "returning">,
): ExprRow {
  const { tree, facts } = walk;
  const nameNode = tree.child(node, "name");
  const symbol = facts.symbol({
    label: "Function",
    name: exists(nameNode) ? tree.source(nameNode) : "",
    parent: context.parent,
    scope: context.scope,
    startLine: tree.line(node),
    endLine: tree.endLine(node),
    flags: SymbolFlag.Hidden,
  });
  const arrow = tree.kind(node) === "arrow_function";
  walk.functionBody(node, symbol, context, { arrow, thisScope: NONE, ...typed });
  if (exists(nameNode)) facts.bind(symbol, facts.symbols.inner(symbol));
  return facts.expr(Expr.Function, symbol);
}

/** An object literal: a hidden symbol with its members below it; functions in it are methods. */
export function objectLiteral(walk: Walk, node: TreeNode, context: Context, expected?: Expected): ExprRow {
  const { tree, facts } = walk;
  const symbol = literalHolder(walk, "Variable", node, context);
  const scope = facts.scope(context.scope, ScopeKind.Class, symbol);
  const inside = { ...context, parent: symbol };
  for (const entry of tree.namedChildren(node)) {
    const kind = tree.kind(entry);
    if (kind === "spread_element") {
      const spread = walk.expression(tree.firstNamed(entry), context);
      facts.heritage(symbol, HeritageKind.Mixin, NONE, tree.line(entry), spread);
    } else if (kind === "shorthand_property_identifier") {
      objectMember(walk, entry, tree.source(entry), walk.expression(entry, context), inside);
    } else if (kind === "pair") {
      objectPair(walk, entry, inside, scope, expected);
    } else if (kind === "method_definition") {
      objectMethod(walk, entry, tree.child(entry, "name"), entry, inside, scope, expected);
    }
  }
  return facts.expr(Expr.Object, symbol);
}

function objectMember(walk: Walk, entry: TreeNode, name: string, value: ExprRow, context: Context): void {
  const { tree, facts } = walk;
  if (name === "") return;
  facts.symbol({
    label: "Property",
    name,
    parent: context.parent,
    scope: context.scope,
    startLine: tree.line(entry),
    endLine: tree.endLine(entry),
    flags: SymbolFlag.Hidden,
    value,
  });
}

/** What is expected of a member of an object of which something is expected. */
function expectMember(walk: Walk, name: string, expected: Expected | undefined): Expected | undefined {
  return expected && name !== "" ? expect(() => walk.facts.exprMember(expected(), name)) : undefined;
}

function objectPair(
  walk: Walk,
  entry: TreeNode,
  context: Context,
  scope: ScopeRow,
  expected: Expected | undefined,
): void {
  const { tree } = walk;
  const key = tree.child(entry, "key");
  const value = tree.child(entry, "value");
  if (tree.kind(key) === "computed_property_name") walk.expression(tree.firstNamed(key), context);
  if (isLambda(tree.kind(value))) {
    objectMethod(walk, entry, key, value, context, scope, expected);
    return;
  }
  const name = memberName(walk, key);
  objectMember(walk, entry, name, walk.expected(value, context, expectMember(walk, name, expected)), context);
}

function objectMethod(
  walk: Walk,
  entry: TreeNode,
  key: TreeNode,
  node: TreeNode,
  context: Context,
  scope: ScopeRow,
  expected: Expected | undefined,
): void {
  const { tree, facts } = walk;
  const name = memberName(walk, key);
  const getter = exists(tree.childOfKind(node, "get")) && tree.kind(node) === "method_definition";
  const symbol = facts.symbol({
    label: getter ? "Property" : "Method",
    name,
    parent: context.parent,
    scope: context.scope,
    startLine: tree.line(entry),
    endLine: tree.endLine(entry),
    flags: (name === "" ? SymbolFlag.Hidden : 0) | (getter ? SymbolFlag.Getter : 0),
    signature: signatureOf(tree, entry, tree.child(node, "body")),
  });
  const inside = name === "" ? context : { ...context, symbol };
  const arrow = tree.kind(node) === "arrow_function";
  const typed = functionOf(walk, expectMember(walk, name, expected));
  walk.functionBody(node, symbol, inside, { arrow, thisScope: arrow ? context.thisScope : scope, ...typed });
}
