/** Walks expressions of TypeScript and JavaScript. Call sites and uses are recorded on the way. */
import { type ExprRow, exists, isNone, NONE, type TreeNode } from "../../rows.ts";
import { CallFlag, Expr, ImportKind, SymbolFlag } from "../fact-layout.ts";
import { type Context, expect, isLambda, stringValue } from "./context.ts";
import { EcmascriptAssignments } from "./member-assignments.ts";
import { computedName } from "./types.ts";

export abstract class EcmascriptExpressions extends EcmascriptAssignments {
  /** Walks an expression. @returns its row; none if there is no node */
  expression(node: TreeNode, context: Context): ExprRow {
    if (isNone(node)) return NONE;
    const row = this.expressionOf(node, context);
    return this.awaited.size > 0 && this.awaited.delete(node) ? this.facts.expr(Expr.Await, row) : row;
  }

  private expressionOf(node: TreeNode, context: Context): ExprRow {
    const { tree, facts } = this;
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
          for (const inner of tree.namedChildren(part)) this.expression(inner, context);
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
        return this.member(node, context);
      case "subscript_expression":
        return this.subscript(node, context);
      case "call_expression":
        return this.call(node, context);
      case "new_expression":
        return this.construct(node, context);
      case "parenthesized_expression":
      case "non_null_expression":
      case "instantiation_expression":
        return this.expression(tree.firstNamed(node), context);
      case "sequence_expression":
        return this.sequence(node, context);
      case "await_expression":
        return facts.expr(Expr.Await, this.expression(tree.firstNamed(node), context));
      case "as_expression":
      case "satisfies_expression":
        return this.cast(node, context);
      case "type_assertion": {
        const [types, value] = tree.namedChildren(node);
        const inner = this.expression(value ?? NONE, context);
        return this.typedExpression(this.typeArguments(types ?? NONE, context)[0] ?? NONE, inner);
      }
      case "binary_expression":
        return this.binary(node, context);
      case "ternary_expression": {
        this.expression(tree.child(node, "condition"), context);
        const yes = this.expression(
          tree.child(node, "consequence"),
          this.narrow(tree.child(node, "condition"), context),
        );
        const no = this.expression(tree.child(node, "alternative"), context);
        return facts.expr(Expr.Either, facts.list([yes, no]));
      }
      case "assignment_expression":
        return this.assignment(node, context);
      case "augmented_assignment_expression": {
        const target = this.expression(tree.child(node, "left"), context);
        const value = this.expression(tree.child(node, "right"), context);
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
        this.expression(tree.child(node, "argument"), context);
        return facts.exprLiteral(
          exists(tree.first(node)) && tree.kind(tree.first(node)) === "!" ? "boolean" : "number",
        );
      case "array":
        return facts.expr(Expr.Array, facts.list(this.items(node, context)));
      case "spread_element":
        return facts.expr(Expr.Iterate, this.expression(tree.firstNamed(node), context));
      case "object":
        return this.objectLiteral(node, context);
      case "arrow_function":
      case "function_expression":
      case "function":
      case "generator_function":
        return this.lambda(node, context, {});
      case "class":
        return this.classExpression(node, context);
      case "yield_expression": {
        const value = this.expression(tree.firstNamed(node), context);
        context.returns?.push(value);
        return facts.expr(Expr.Unknown);
      }
      case "jsx_element":
      case "jsx_self_closing_element":
      case "jsx_fragment":
        this.jsx(node, context);
        return facts.exprLiteral("JSX.Element");
      case "import":
      case "meta_property":
        return facts.expr(Expr.Unknown);
      case "type_query":
        return this.expression(tree.firstNamed(node), context);
      default:
        for (const child of tree.namedChildren(node)) this.expression(child, context);
        return facts.expr(Expr.Unknown);
    }
  }

  private member(node: TreeNode, context: Context): ExprRow {
    const { tree, facts } = this;
    const object = this.expression(tree.child(node, "object"), context);
    return facts.exprMember(object, tree.source(tree.child(node, "property")));
  }

  private subscript(node: TreeNode, context: Context): ExprRow {
    const { tree, facts } = this;
    const object = this.expression(tree.child(node, "object"), context);
    const index = tree.child(node, "index");
    const kind = tree.kind(index);
    if (kind === "string") return facts.exprMember(object, stringValue(tree, index));
    this.expression(index, context);
    const key = kind === "number" ? tree.source(index) : computedName(tree.source(index));
    return facts.expr(Expr.Index, object, key === "" ? NONE : facts.name(key));
  }

  private cast(node: TreeNode, context: Context): ExprRow {
    const { tree, facts } = this;
    const [value, type] = tree.namedChildren(node);
    const written = type === undefined || tree.source(type) === "const" ? NONE : this.type(type, context);
    const inner = this.walkExpected(value ?? NONE, context, this.expectType(written));
    if (isNone(written) || tree.kind(node) === "satisfies_expression") return inner;
    return facts.expr(Expr.Typed, written, inner);
  }

  /** The module name of `require("x")` or `import("x")`, or undefined. */
  private requiredModule(callee: TreeNode, args: TreeNode): string | undefined {
    const { tree } = this;
    const kind = tree.kind(callee);
    if (kind !== "import" && !(kind === "identifier" && tree.source(callee) === "require")) return undefined;
    const first = isNone(args) ? NONE : tree.firstNamed(args);
    return exists(first) && tree.kind(first) === "string" ? stringValue(tree, first) : undefined;
  }

  /**
   * The grammar misreads `await f<T>()` and `!f<T>()` as `(await f)<T>()`. This returns the callee without the prefix,
   * and records an `await` for the end of the chain of calls and members that begins here.
   */
  private misplacedPrefix(node: TreeNode, callee: TreeNode): TreeNode {
    const { tree } = this;
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
      this.awaited.add(end);
    }
    return tree.firstNamed(callee);
  }

  private call(node: TreeNode, context: Context): ExprRow {
    const { tree, facts } = this;
    const calleeNode = this.misplacedPrefix(node, tree.child(node, "function"));
    const args = tree.child(node, "arguments");
    const module = this.requiredModule(calleeNode, args);
    if (module !== undefined) {
      const statement = this.statementOf(node, module, context);
      const row = facts.import(ImportKind.Module, module, "*", "", tree.line(node), context.scope, statement);
      return facts.expr(Expr.Module, row);
    }
    // The call records the called name. A use of the same name would count it twice.
    const isName = tree.kind(calleeNode) === "identifier" && !this.awaited.has(calleeNode);
    const callee = isName
      ? facts.exprName(tree.source(calleeNode), context.scope)
      : this.expression(calleeNode, context);
    this.inheritanceCall(calleeNode, args, context);
    const row = facts.expr(Expr.Call, callee);
    this.passArguments(row, args, context);
    facts.exprs.setTypeArgs(row, facts.list(this.typeArguments(tree.child(node, "type_arguments"), context)));
    facts.call(row, context.symbol, this.callLine(calleeNode), tree.kind(calleeNode) === "super" ? CallFlag.Super : 0);
    return row;
  }

  /** The line of the called name. In a chain of calls, the call may begin on an earlier line. */
  private callLine(callee: TreeNode): number {
    const { tree } = this;
    let bare = callee;
    while (/^(parenthesized|non_null|as)_expression$/.test(tree.kind(bare))) bare = tree.firstNamed(bare);
    const property = tree.kind(bare) === "member_expression" ? tree.child(bare, "property") : NONE;
    return tree.line(exists(property) ? property : bare);
  }

  private passArguments(row: ExprRow, args: TreeNode, context: Context): void {
    const { tree, facts } = this;
    if (isNone(args)) return;
    if (tree.kind(args) === "template_string") {
      this.expression(args, context);
      return;
    }
    const rows: ExprRow[] = [];
    for (const [i, argument] of tree.namedChildren(args).entries()) {
      const expected = expect(() => facts.expr(Expr.Contextual, row, i, -1));
      if (isLambda(tree.kind(argument))) {
        const toContextual = (parameter: number) => facts.expr(Expr.Contextual, row, i, parameter);
        rows.push(this.lambda(argument, context, { ...this.functionOf(expected), toContextual }));
      } else {
        rows.push(this.walkExpected(argument, context, expected));
      }
    }
    facts.exprs.setArgs(row, facts.list(rows));
  }

  private sequence(node: TreeNode, context: Context): ExprRow {
    return this.tree.namedChildren(node).reduce<ExprRow>((_, child) => this.expression(child, context), NONE);
  }

  private items(node: TreeNode, context: Context): ExprRow[] {
    return this.tree.namedChildren(node).map((child) => this.walkExpected(child, context, undefined));
  }

  private construct(node: TreeNode, context: Context): ExprRow {
    const { tree, facts } = this;
    const callee = this.expression(tree.child(node, "constructor"), context);
    const row = facts.expr(Expr.New, callee);
    this.passArguments(row, tree.child(node, "arguments"), context);
    facts.exprs.setTypeArgs(row, facts.list(this.typeArguments(tree.child(node, "type_arguments"), context)));
    facts.call(row, context.symbol, tree.line(node), CallFlag.New);
    return row;
  }

  private binary(node: TreeNode, context: Context): ExprRow {
    const { tree, facts } = this;
    const leftNode = tree.child(node, "left");
    const operator = tree.kind(tree.child(node, "operator"));
    const left = this.expression(leftNode, context);
    const inside = operator === "&&" ? this.narrow(leftNode, context) : context;
    const right = this.expression(tree.child(node, "right"), inside);
    if (operator === "??" || operator === "||") return facts.expr(Expr.Either, facts.list([left, right]));
    if (operator === "&&") return right;
    return facts.exprLiteral(operator === "+" ? "string" : /^(-|\*)$/.test(operator) ? "number" : "boolean");
  }

  private assignment(node: TreeNode, context: Context): ExprRow {
    const { tree, facts } = this;
    const leftNode = tree.child(node, "left");
    const rightNode = tree.child(node, "right");
    const leftKind = tree.kind(leftNode);
    if (exists(tree.childOfKind(node, "using"))) {
      // The grammar reads the declaration `using x = …` as an assignment.
      const resource = this.expression(rightNode, context);
      this.bindPattern(leftNode, resource, NONE, context, context.scope);
      return resource;
    }
    const given =
      (context.varScope === 0 ? this.commonJsExport(leftNode, rightNode, context) : undefined) ??
      this.memberAssignment(leftNode, rightNode, context);
    if (given !== undefined) return given;
    if (leftKind === "identifier" || leftKind === "member_expression") {
      const target =
        leftKind === "identifier"
          ? facts.exprName(tree.source(leftNode), context.scope)
          : this.member(leftNode, context);
      const value = this.walkExpected(rightNode, context, () => target);
      facts.assign(target, value, context.scope);
      return facts.expr(Expr.Assign, target, value);
    }
    this.expression(leftNode, context);
    return this.expression(rightNode, context);
  }

  private classExpression(node: TreeNode, context: Context): ExprRow {
    const { tree, facts } = this;
    const nameNode = tree.child(node, "name");
    const symbol = this.classLike(
      node,
      exists(nameNode) ? tree.source(nameNode) : "",
      context,
      exists(nameNode) ? 0 : SymbolFlag.Hidden,
    );
    return facts.expr(Expr.Class, symbol);
  }
}
