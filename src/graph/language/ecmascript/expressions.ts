/** Expressions of TypeScript and JavaScript, as expression facts; call sites and uses are noted on the way. */
import { type ExprRow, exists, isNone, NONE, type TreeNode } from "../../rows.ts";
import { CallFlag, Expr, ImportKind, SymbolFlag } from "../fact-layout.ts";
import { type Context, isLambda, stringValue, type Walk } from "./context.ts";
import { expect, expectType, functionOf } from "./expectations.ts";
import { jsx } from "./jsx.ts";
import { lambda, objectLiteral } from "./literals.ts";
import { inheritanceCall, memberAssignment } from "./member-assignments.ts";
import { statementOf } from "./modules.ts";
import { narrowed } from "./narrowing.ts";
import { bindPattern } from "./patterns.ts";
import { computedName, typeArguments, typedExpression } from "./types.ts";

/** Turns an expression node into an expression row; none for no node. */
export function expressionFact(walk: Walk, node: TreeNode, context: Context): ExprRow {
  if (isNone(node)) return NONE;
  const row = describe(walk, node, context);
  return walk.awaited.size > 0 && walk.awaited.delete(node) ? walk.facts.expr(Expr.Await, row) : row;
}

function describe(walk: Walk, node: TreeNode, context: Context): ExprRow {
  const { tree, facts } = walk;
  switch (tree.kind(node)) {
    case "identifier":
    case "shorthand_property_identifier":
    case "undefined": {
      const row = facts.exprName(tree.source(node), context.scope);
      facts.useValue(row, context.symbol, tree.line(node));
      return row;
    }
    case "this":
      return facts.expr(Expr.This, context.thisScope);
    case "super":
      return facts.expr(Expr.Super, context.thisScope);
    case "string":
      return facts.exprLiteral("string");
    case "template_string":
      for (const part of tree.namedChildren(node))
        for (const inner of tree.namedChildren(part)) walk.expression(inner, context);
      return facts.exprLiteral("string");
    case "number":
      return facts.exprLiteral("number");
    case "true":
    case "false":
      return facts.exprLiteral("boolean");
    case "null":
      return facts.exprLiteral("null");
    case "regex":
      return facts.exprLiteral("RegExp");
    case "member_expression":
      return member(walk, node, context);
    case "subscript_expression":
      return subscript(walk, node, context);
    case "call_expression":
      return call(walk, node, context);
    case "new_expression":
      return construct(walk, node, context);
    case "parenthesized_expression":
    case "non_null_expression":
    case "instantiation_expression":
      return walk.expression(tree.firstNamed(node), context);
    case "sequence_expression":
      return tree.namedChildren(node).reduce<ExprRow>((_, child) => walk.expression(child, context), NONE);
    case "await_expression":
      return facts.expr(Expr.Await, walk.expression(tree.firstNamed(node), context));
    case "as_expression":
    case "satisfies_expression":
      return cast(walk, node, context);
    case "type_assertion": {
      const [types, value] = tree.namedChildren(node);
      const inner = walk.expression(value ?? NONE, context);
      return typedExpression(walk, typeArguments(walk, types ?? NONE, context)[0] ?? NONE, inner);
    }
    case "binary_expression":
      return binary(walk, node, context);
    case "ternary_expression": {
      walk.expression(tree.child(node, "condition"), context);
      const yes = walk.expression(
        tree.child(node, "consequence"),
        narrowed(walk, tree.child(node, "condition"), context),
      );
      const no = walk.expression(tree.child(node, "alternative"), context);
      return facts.expr(Expr.Either, facts.list([yes, no]));
    }
    case "assignment_expression":
      return assignment(walk, node, context);
    case "augmented_assignment_expression": {
      const target = walk.expression(tree.child(node, "left"), context);
      const value = walk.expression(tree.child(node, "right"), context);
      if (
        /^(\?\?=|\|\|=|&&=)$/.test(
          tree.text.slice(tree.endIndex(tree.child(node, "left")), tree.startIndex(tree.child(node, "right"))).trim(),
        )
      )
        facts.assign(target, value, context.scope);
      return facts.expr(Expr.Either, facts.list([target, value]));
    }
    case "unary_expression":
    case "update_expression":
      walk.expression(tree.child(node, "argument"), context);
      return facts.exprLiteral(exists(tree.first(node)) && tree.kind(tree.first(node)) === "!" ? "boolean" : "number");
    case "array":
      return facts.expr(
        Expr.Array,
        facts.list(tree.namedChildren(node).map((child) => walk.expression(child, context))),
      );
    case "spread_element":
      return facts.expr(Expr.Iterate, walk.expression(tree.firstNamed(node), context));
    case "object":
      return objectLiteral(walk, node, context);
    case "arrow_function":
    case "function_expression":
    case "function":
    case "generator_function":
      return lambda(walk, node, context, {});
    case "class":
      return classExpression(walk, node, context);
    case "yield_expression": {
      const value = walk.expression(tree.firstNamed(node), context);
      context.returns?.push(value);
      return facts.expr(Expr.Unknown);
    }
    case "jsx_element":
    case "jsx_self_closing_element":
    case "jsx_fragment":
      jsx(walk, node, context);
      return facts.exprLiteral("JSX.Element");
    case "import":
    case "meta_property":
      return facts.expr(Expr.Unknown);
    case "type_query":
      return walk.expression(tree.firstNamed(node), context);
    default:
      for (const child of tree.namedChildren(node)) walk.expression(child, context);
      return facts.expr(Expr.Unknown);
  }
}

function member(walk: Walk, node: TreeNode, context: Context): ExprRow {
  const { tree, facts } = walk;
  const object = walk.expression(tree.child(node, "object"), context);
  return facts.exprMember(object, tree.source(tree.child(node, "property")));
}

function subscript(walk: Walk, node: TreeNode, context: Context): ExprRow {
  const { tree, facts } = walk;
  const object = walk.expression(tree.child(node, "object"), context);
  const index = tree.child(node, "index");
  const kind = tree.kind(index);
  if (kind === "string") return facts.exprMember(object, stringValue(tree, index));
  walk.expression(index, context);
  const key = kind === "number" ? tree.source(index) : computedName(tree.source(index));
  return facts.expr(Expr.Index, object, key === "" ? NONE : facts.name(key));
}

function cast(walk: Walk, node: TreeNode, context: Context): ExprRow {
  const { tree, facts } = walk;
  const [value, type] = tree.namedChildren(node);
  const written = type === undefined || tree.source(type) === "const" ? NONE : walk.type(type, context);
  const inner = walk.expected(value ?? NONE, context, expectType(walk, written));
  if (isNone(written) || tree.kind(node) === "satisfies_expression") return inner;
  return facts.expr(Expr.Typed, written, inner);
}

/** The module name of `require("x")` or `import("x")`, or undefined. */
function requiredModule(walk: Walk, callee: TreeNode, args: TreeNode): string | undefined {
  const { tree } = walk;
  const kind = tree.kind(callee);
  if (kind !== "import" && !(kind === "identifier" && tree.source(callee) === "require")) return undefined;
  const first = isNone(args) ? NONE : tree.firstNamed(args);
  return exists(first) && tree.kind(first) === "string" ? stringValue(tree, first) : undefined;
}

/**
 * The callee of `await f<T>()` and `!f<T>()`, which the grammar reads as `(await f)<T>()`: the prefix is taken off, and
 * an `await` is noted for the end of the chain of calls and members that begins here.
 */
function misplacedPrefix(walk: Walk, node: TreeNode, callee: TreeNode): TreeNode {
  const { tree } = walk;
  const kind = tree.kind(callee);
  if (kind !== "await_expression" && kind !== "unary_expression") return callee;
  if (kind === "await_expression") {
    let end = node;
    for (let next = tree.parent(end); exists(next); next = tree.parent(end)) {
      const part = tree.kind(next);
      const first = tree.child(next, part === "call_expression" ? "function" : "object");
      if (first !== end && !(part === "non_null_expression" && tree.firstNamed(next) === end)) break;
      end = next;
    }
    walk.awaited.add(end);
  }
  return tree.firstNamed(callee);
}

function call(walk: Walk, node: TreeNode, context: Context): ExprRow {
  const { tree, facts } = walk;
  const calleeNode = misplacedPrefix(walk, node, tree.child(node, "function"));
  const args = tree.child(node, "arguments");
  const module = requiredModule(walk, calleeNode, args);
  if (module !== undefined) {
    const statement = statementOf(walk, node, module, context);
    const row = facts.import(ImportKind.Module, module, "*", "", tree.line(node), context.scope, statement);
    return facts.expr(Expr.Module, row);
  }
  // The call records the called name; recording a use as well would count it twice.
  const isName = tree.kind(calleeNode) === "identifier" && !walk.awaited.has(calleeNode);
  const callee = isName ? facts.exprName(tree.source(calleeNode), context.scope) : walk.expression(calleeNode, context);
  inheritanceCall(walk, calleeNode, args, context);
  const row = facts.expr(Expr.Call, callee);
  passArguments(walk, row, args, context);
  facts.exprs.setTypeArgs(row, facts.list(typeArguments(walk, tree.child(node, "type_arguments"), context)));
  facts.call(row, context.symbol, callLine(walk, calleeNode), tree.kind(calleeNode) === "super" ? CallFlag.Super : 0);
  return row;
}

/** The line of the called name, which in a chain of calls is not where the call begins. */
function callLine(walk: Walk, callee: TreeNode): number {
  const { tree } = walk;
  let bare = callee;
  while (/^(parenthesized|non_null|as)_expression$/.test(tree.kind(bare))) bare = tree.firstNamed(bare);
  const property = tree.kind(bare) === "member_expression" ? tree.child(bare, "property") : NONE;
  return tree.line(exists(property) ? property : bare);
}

function passArguments(walk: Walk, row: ExprRow, args: TreeNode, context: Context): void {
  const { tree, facts } = walk;
  if (isNone(args)) return;
  if (tree.kind(args) === "template_string") {
    walk.expression(args, context);
    return;
  }
  const rows: ExprRow[] = [];
  for (const [i, argument] of tree.namedChildren(args).entries()) {
    const expected = expect(() => facts.expr(Expr.Contextual, row, i, -1));
    if (isLambda(tree.kind(argument))) {
      const contextual = (parameter: number) => facts.expr(Expr.Contextual, row, i, parameter);
      rows.push(lambda(walk, argument, context, { ...functionOf(walk, expected), contextual }));
    } else {
      rows.push(walk.expected(argument, context, expected));
    }
  }
  facts.exprs.setArgs(row, facts.list(rows));
}

function construct(walk: Walk, node: TreeNode, context: Context): ExprRow {
  const { tree, facts } = walk;
  const callee = walk.expression(tree.child(node, "constructor"), context);
  const row = facts.expr(Expr.New, callee);
  passArguments(walk, row, tree.child(node, "arguments"), context);
  facts.exprs.setTypeArgs(row, facts.list(typeArguments(walk, tree.child(node, "type_arguments"), context)));
  facts.call(row, context.symbol, tree.line(node), CallFlag.New);
  return row;
}

function binary(walk: Walk, node: TreeNode, context: Context): ExprRow {
  const { tree, facts } = walk;
  const leftNode = tree.child(node, "left");
  const operator = tree.kind(tree.child(node, "operator"));
  const left = walk.expression(leftNode, context);
  const inside = operator === "&&" ? narrowed(walk, leftNode, context) : context;
  const right = walk.expression(tree.child(node, "right"), inside);
  if (operator === "??" || operator === "||") return facts.expr(Expr.Either, facts.list([left, right]));
  if (operator === "&&") return right;
  return facts.exprLiteral(operator === "+" ? "string" : /^(-|\*)$/.test(operator) ? "number" : "boolean");
}

function assignment(walk: Walk, node: TreeNode, context: Context): ExprRow {
  const { tree, facts } = walk;
  const leftNode = tree.child(node, "left");
  const rightNode = tree.child(node, "right");
  const leftKind = tree.kind(leftNode);
  if (exists(tree.childOfKind(node, "using"))) {
    // `using x = …` declares, though the grammar reads an assignment.
    const resource = walk.expression(rightNode, context);
    bindPattern(walk, leftNode, resource, NONE, context, context.scope);
    return resource;
  }
  const given =
    (context.varScope === 0 ? walk.commonJsExport(leftNode, rightNode, context) : undefined) ??
    memberAssignment(walk, leftNode, rightNode, context);
  if (given !== undefined) return given;
  if (leftKind === "identifier" || leftKind === "member_expression") {
    const target =
      leftKind === "identifier"
        ? facts.exprName(tree.source(leftNode), context.scope)
        : member(walk, leftNode, context);
    const value = walk.expected(rightNode, context, () => target);
    facts.assign(target, value, context.scope);
    return facts.expr(Expr.Assign, target, value);
  }
  walk.expression(leftNode, context);
  return walk.expression(rightNode, context);
}

function classExpression(walk: Walk, node: TreeNode, context: Context): ExprRow {
  const { tree, facts } = walk;
  const nameNode = tree.child(node, "name");
  const symbol = walk.classLike(
    node,
    exists(nameNode) ? tree.source(nameNode) : "",
    context,
    exists(nameNode) ? 0 : SymbolFlag.Hidden,
  );
  return facts.expr(Expr.Class, symbol);
}
