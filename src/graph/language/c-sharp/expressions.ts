/** C#'s expressions. */
import { type ExprRow, exists, isNone, NONE, type TreeNode, type TypeRow } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { Expr, SymbolFlag, Type } from "../fact-layout.ts";
import { CSharpTypes } from "./types.ts";

export abstract class CSharpExpressions extends CSharpTypes {
  /** The value before `?.`, to which a member binding belongs. */
  private conditional: ExprRow = NONE;

  protected abstract switchSections(node: TreeNode, at: Place): void;

  protected isLambda(kind: string): boolean {
    return kind === "lambda_expression" || kind === "anonymous_method_expression";
  }

  protected lambda(node: TreeNode, at: Place, contextual?: (parameter: number) => ExprRow): ExprRow {
    const { tree, facts } = this;
    const async = exists(tree.childOfKind(node, "async")) || /^async\b/.test(this.text(node).slice(0, 6));
    const symbol = this.hiddenFunction(node, at, async ? SymbolFlag.Async : 0);
    const inside = this.open(symbol, at);
    this.parameters(tree.child(node, "parameters"), symbol, inside, contextual);
    const body = tree.child(node, "body");
    const block = exists(body) ? body : tree.childOfKind(node, "block");
    if (tree.kind(block) === "block") this.statements(block, inside);
    else if (exists(block)) inside.returns?.push(this.expression(block, inside));
    this.close(symbol, inside);
    return facts.expr(Expr.Function, symbol);
  }

  protected expressionOf(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "identifier":
        return this.name(node, at);
      case "this":
        return facts.expr(Expr.This, at.thisScope);
      case "base":
        return facts.expr(Expr.Super, at.thisScope);
      case "generic_name":
        this.typeArguments(node, at);
        return facts.exprName(this.text(tree.firstNamed(node)), at.scope);
      case "qualified_name":
        return facts.exprMember(this.expression(tree.child(node, "qualifier"), at), this.field(node, "name"));
      case "predefined_type":
        return facts.expr(Expr.Typed, this.type(node, at));
      case "member_access_expression":
      case "member_binding_expression":
        return this.member(node, at);
      case "conditional_access_expression":
        return this.conditionalAccess(node, at);
      case "invocation_expression":
        return this.invocation(node, at);
      case "object_creation_expression":
        return this.creation(node, at);
      case "implicit_object_creation_expression":
        return this.implicitCreation(node, at, NONE);
      case "lambda_expression":
      case "anonymous_method_expression":
        return this.lambda(node, at);
      case "await_expression":
        return facts.expr(Expr.Await, this.expression(this.inner(node), at));
      case "cast_expression": {
        const value = this.expression(tree.child(node, "value"), at);
        return facts.expr(Expr.Typed, this.type(tree.child(node, "type"), at), value);
      }
      case "as_expression": {
        const value = this.expression(tree.child(node, "left"), at);
        return facts.expr(Expr.Typed, this.type(tree.child(node, "right"), at), value);
      }
      case "is_expression":
      case "is_pattern_expression":
        return this.isExpression(node, at);
      case "conditional_expression": {
        this.expression(tree.child(node, "condition"), at);
        const yes = this.expression(tree.child(node, "consequence"), at);
        return facts.expr(Expr.Either, facts.list([yes, this.expression(tree.child(node, "alternative"), at)]));
      }
      case "assignment_expression":
        return this.assignment(node, at);
      case "element_access_expression": {
        this.expression(tree.child(node, "subscript"), at);
        return facts.expr(Expr.Index, this.expression(tree.child(node, "expression"), at), -1);
      }
      case "parenthesized_expression":
      case "ref_expression":
      case "checked_expression":
      case "postfix_unary_expression":
        return this.expression(this.inner(node), at);
      case "argument":
        return this.expression(this.inner(node), at);
      case "prefix_unary_expression": {
        const value = this.expression(this.inner(node), at);
        return exists(tree.childOfKind(node, "!")) ? facts.exprLiteral("bool") : value;
      }
      case "declaration_expression":
        this.local(this.field(node, "name"), at, this.type(tree.child(node, "type"), at), NONE);
        return facts.expr(Expr.Unknown);
      case "switch_expression":
        return this.switchExpression(node, at);
      case "binary_expression":
        return this.binary(node, at);
      case "throw_expression":
        this.expression(this.inner(node), at);
        return facts.exprLiteral("null");
      default:
        return this.otherExpression(node, at);
    }
  }

  private otherExpression(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "string_literal":
      case "verbatim_string_literal":
      case "raw_string_literal":
        return facts.exprLiteral("string");
      case "interpolated_string_expression":
        this.walkUnknown(node, at);
        return facts.exprLiteral("string");
      case "integer_literal":
        return facts.exprLiteral("int");
      case "real_literal":
        return facts.exprLiteral("double");
      case "boolean_literal":
        return facts.exprLiteral("bool");
      case "character_literal":
        return facts.exprLiteral("char");
      case "null_literal":
        return facts.exprLiteral("null");
      case "typeof_expression":
        this.type(tree.child(node, "type"), at);
        return facts.exprLiteral("Type");
      case "default_expression":
        return facts.expr(Expr.Typed, this.type(tree.child(node, "type"), at));
      case "tuple_expression":
        return facts.expr(Expr.Array, facts.list(tree.namedChildren(node).map((child) => this.expression(child, at))));
      case "array_creation_expression": {
        for (const child of tree.namedChildren(node)) if (tree.fieldName(child) !== "type") this.expression(child, at);
        return facts.expr(Expr.Typed, this.type(tree.child(node, "type"), at));
      }
      case "initializer_expression":
        this.initializer(node, at);
        return facts.expr(Expr.Unknown);
      case "from_clause": {
        const over = this.expression(tree.namedChildren(node).at(-1) ?? NONE, at);
        this.local(
          this.field(node, "name"),
          at,
          this.type(tree.child(node, "type"), at),
          facts.expr(Expr.Iterate, over),
        );
        return over;
      }
      case "block":
        this.statement(node, at);
        return facts.expr(Expr.Unknown);
      default:
        for (let child = tree.first(node); child !== NONE; child = tree.next(child))
          if (tree.isNamed(child) && tree.kind(child) !== "comment") this.expression(child, at);
        return facts.expr(Expr.Unknown);
    }
  }

  private member(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const nameNode = tree.child(node, "name");
    const generic = tree.kind(nameNode) === "generic_name";
    const binding = tree.kind(node) === "member_binding_expression";
    const object = binding ? this.conditional : this.expression(tree.child(node, "expression"), at);
    return facts.exprMember(object, this.text(generic ? tree.firstNamed(nameNode) : nameNode));
  }

  private conditionalAccess(node: TreeNode, at: Place): ExprRow {
    const { tree } = this;
    const condition = tree.child(node, "condition");
    const before = this.conditional;
    this.conditional = this.expression(condition, at);
    const rest = tree.namedChildren(node).find((child) => child !== condition) ?? NONE;
    const row = this.expression(rest, at);
    this.conditional = before;
    return row;
  }

  protected argumentsOf(node: TreeNode): TreeNode[] {
    const { tree } = this;
    const named = tree.child(node, "arguments");
    const list = exists(named) ? named : tree.childOfKind(node, "argument_list");
    return tree.namedChildren(list).map((argument) => this.inner(argument));
  }

  private invocation(node: TreeNode, at: Place): ExprRow {
    const { tree } = this;
    const calleeNode = tree.child(node, "function");
    const callee = this.callee(calleeNode, at);
    let nameNode = calleeNode;
    let generic = calleeNode;
    for (let kind = tree.kind(nameNode); /access|binding/.test(kind); kind = tree.kind(nameNode)) {
      const next =
        kind === "conditional_access_expression"
          ? (tree.namedChildren(nameNode).at(-1) ?? NONE)
          : tree.child(nameNode, "name");
      if (isNone(next)) break;
      nameNode = next;
      generic = next;
    }
    const typeArgs = tree.kind(generic) === "generic_name" ? this.typeArguments(generic, at) : [];
    return this.callOf(callee, this.argumentsOf(node), at, tree.line(nameNode), typeArgs);
  }

  /** Walks the callee of a call. A called name does not also count as used. */
  private callee(node: TreeNode, at: Place): ExprRow {
    return this.tree.kind(node) === "identifier"
      ? this.facts.exprName(this.text(node), at.scope)
      : this.expression(node, at);
  }

  private creation(node: TreeNode, at: Place): ExprRow {
    const { tree } = this;
    const typeNode = tree.child(node, "type");
    const type = this.type(typeNode, at);
    this.initializer(tree.child(node, "initializer"), at);
    return this.construction(type, typeNode, this.argumentsOf(node), at);
  }

  /** Walks `new(…)`, whose type is that of the declaration in which it stands. */
  protected implicitCreation(node: TreeNode, at: Place, type: TypeRow): ExprRow {
    const { tree, facts } = this;
    this.initializer(tree.child(node, "initializer"), at);
    const args = this.argumentsOf(node);
    if (exists(type) && facts.types.op(type) !== Type.Literal)
      return this.newOf(this.classExpression(type), args, at, tree.line(node));
    for (const argument of args) this.expression(argument, at);
    return facts.expr(Expr.Unknown);
  }

  private initializer(node: TreeNode, at: Place): void {
    const { tree } = this;
    if (isNone(node)) return;
    for (const child of tree.namedChildren(node)) {
      if (tree.kind(child) === "assignment_expression") this.walkValue(tree.child(child, "right"), at);
      else this.expression(child, at);
    }
  }

  private isExpression(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const left = tree.child(node, "expression");
    this.expression(exists(left) ? left : tree.child(node, "left"), at);
    const pattern = tree.child(node, "pattern");
    if (exists(pattern)) this.pattern(pattern, at);
    else this.type(tree.child(node, "right"), at);
    return facts.exprLiteral("bool");
  }

  /** Binds the names in a pattern. */
  protected pattern(node: TreeNode, at: Place): void {
    const { tree } = this;
    const kind = tree.kind(node);
    if (kind === "declaration_pattern" || kind === "recursive_pattern") {
      const type = this.type(tree.child(node, "type"), at);
      const name = tree.child(node, "name");
      if (exists(name)) this.local(this.text(name), at, type, NONE);
      if (kind === "declaration_pattern") return;
    }
    if (kind === "constant_pattern" || kind === "relational_pattern") this.expression(this.inner(node), at);
    else if (kind === "type_pattern") this.type(tree.child(node, "type"), at);
    else if (/pattern|subpattern/.test(kind))
      for (const child of tree.namedChildren(node)) if (/pattern/.test(tree.kind(child))) this.pattern(child, at);
  }

  private switchExpression(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const rows: ExprRow[] = [];
    for (const child of tree.namedChildren(node)) {
      if (tree.kind(child) !== "switch_expression_arm") {
        this.expression(child, at);
        continue;
      }
      const inside = this.block(at);
      const parts = tree.namedChildren(child);
      for (const part of parts.slice(0, -1))
        if (/pattern/.test(tree.kind(part))) this.pattern(part, inside);
        else if (tree.kind(part) !== "discard") this.expression(part, inside);
      rows.push(this.expression(parts.at(-1) ?? NONE, inside));
    }
    return facts.expr(Expr.Either, facts.list(rows));
  }

  private assignment(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const left = tree.child(node, "left");
    const target = this.expression(left, at);
    const value = this.walkValue(tree.child(node, "right"), at);
    facts.assign(target, value, at.scope);
    return value;
  }

  private binary(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const left = this.expression(tree.child(node, "left"), at);
    const right = this.expression(tree.child(node, "right"), at);
    const operator = this.operatorOf(node);
    if (operator.includes("??")) return facts.expr(Expr.Either, facts.list([left, right]));
    return this.operation(operator, left, right);
  }
}
