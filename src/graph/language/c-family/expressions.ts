/** Expressions of C and C++. */
import { type ExprRow, exists, FILE_SCOPE, NONE, type TreeNode, type TypeRow } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { Expr, Type } from "../fact-layout.ts";
import { CFamilyTypes } from "./types.ts";

export abstract class CFamilyExpressions extends CFamilyTypes {
  protected isLambda(kind: string): boolean {
    return kind === "lambda_expression";
  }

  protected lambda(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const symbol = this.hiddenFunction(node, at);
    const inside = this.open(symbol, at);
    const declarator = tree.child(node, "declarator");
    if (exists(declarator)) this.parameters(declarator, symbol, inside);
    const captures = tree.child(node, "captures");
    for (const capture of tree.namedChildren(captures))
      if (tree.kind(capture) === "lambda_capture_initializer") {
        const value = this.expression(tree.child(capture, "right"), at);
        this.local(this.field(capture, "left"), inside, NONE, value);
      }
    this.statements(tree.child(node, "body"), inside);
    this.close(symbol, inside);
    return facts.expr(Expr.Function, symbol);
  }

  protected expressionOf(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const kind = tree.kind(node);
    switch (kind) {
      case "identifier":
      case "field_identifier":
        return this.name(node, at);
      case "this":
        return exists(at.thisScope) ? facts.expr(Expr.This, at.thisScope) : facts.exprName("this", at.scope);
      case "qualified_identifier":
        return this.path(node, at);
      case "template_function":
        this.templateArguments(node, at);
        return facts.exprName(this.field(node, "name"), at.scope);
      case "field_expression": {
        const object = this.expression(tree.child(node, "argument"), at);
        return facts.exprMember(object, this.partName(this.memberNode(node)));
      }
      case "call_expression":
        return this.call(node, at);
      case "new_expression":
        return this.creation(node, at);
      case "lambda_expression":
        return this.lambda(node, at);
      case "cast_expression":
        this.expression(tree.child(node, "value"), at);
        return facts.expr(Expr.Typed, this.type(tree.child(node, "type"), at));
      case "compound_literal_expression": {
        const type = this.type(tree.child(node, "type"), at);
        const value = tree.child(node, "value");
        if (exists(value)) this.expression(value, at);
        return facts.expr(Expr.Typed, type);
      }
      case "parenthesized_expression":
      case "pointer_expression":
      case "update_expression":
        return this.expression(tree.namedChildren(node).at(-1) ?? NONE, at);
      case "subscript_expression": {
        const object = this.expression(tree.child(node, "argument"), at);
        const indices = tree.child(node, "indices");
        this.expression(exists(indices) ? tree.firstNamed(indices) : tree.child(node, "index"), at);
        return facts.expr(Expr.Index, object, -1);
      }
      case "conditional_expression": {
        this.expression(tree.child(node, "condition"), at);
        const yes = this.expression(tree.child(node, "consequence"), at);
        const no = this.expression(tree.child(node, "alternative"), at);
        return facts.expr(Expr.Either, facts.list([yes, no].filter((row) => exists(row))));
      }
      case "assignment_expression": {
        const target = this.expression(tree.child(node, "left"), at);
        const value = this.expression(tree.child(node, "right"), at);
        facts.assign(target, value, at.scope);
        return value;
      }
      default:
        return this.literal(node, kind, at);
    }
  }

  private literal(node: TreeNode, kind: string, at: Place): ExprRow {
    const { tree, facts } = this;
    switch (kind) {
      case "string_literal":
      case "raw_string_literal":
      case "concatenated_string":
        return facts.exprLiteral("string");
      case "number_literal":
        return facts.exprLiteral(/[.]|^[^x]*e/i.test(this.text(node)) ? "double" : "int");
      case "char_literal":
        return facts.exprLiteral("char");
      case "true":
      case "false":
        return facts.exprLiteral("bool");
      case "null":
        return facts.exprLiteral("null");
      case "binary_expression": {
        const left = this.expression(tree.child(node, "left"), at);
        this.expression(tree.child(node, "right"), at);
        const operator = tree.text
          .slice(tree.endIndex(tree.child(node, "left")), tree.startIndex(tree.child(node, "right")))
          .trim();
        if (/^([<>]=?|[=!]=|&&|\|\|)$/.test(operator)) return facts.exprLiteral("bool");
        return facts.exprs.op(left) === Expr.Literal ? left : facts.expr(Expr.Unknown);
      }
      case "unary_expression":
        this.expression(tree.child(node, "argument"), at);
        return facts.expr(Expr.Unknown);
      case "sizeof_expression":
      case "alignof_expression":
        this.expression(tree.child(node, "value"), at);
        this.type(tree.child(node, "type"), at);
        return facts.exprLiteral("size_t");
      case "co_await_expression":
        return this.expression(tree.firstNamed(node), at);
      case "initializer_pair":
        return this.expression(tree.child(node, "value"), at);
      case "initializer_list":
      case "argument_list":
        this.walkUnknown(node, at);
        return facts.expr(Expr.Unknown);
      case "compound_statement":
      case "declaration":
      case "expression_statement":
        this.statement(node, at);
        return facts.expr(Expr.Unknown);
      case "type_descriptor":
        this.type(node, at);
        return facts.expr(Expr.Unknown);
      default:
        return this.walkUnknown(node, at);
    }
  }

  private memberNode(node: TreeNode): TreeNode {
    const { tree } = this;
    const field = tree.child(node, "field");
    if (tree.kind(field) === "dependent_name") return tree.namedChildren(field).at(-1) ?? field;
    return field;
  }

  /**
   * Walks `a::b::c`. The part before `::` is a name space or class. If nothing here declares it, it belongs to a
   * library.
   */
  protected path(node: TreeNode, at: Place): ExprRow {
    const { facts } = this;
    const { names, rooted } = this.parts(node);
    const last = names.at(-1);
    if (last === undefined) return facts.expr(Expr.Unknown);
    const first = names[0]!;
    this.templateArguments(last, at);
    if (names.length === 1) return facts.exprName(this.partName(first), rooted ? FILE_SCOPE : at.scope);
    if (this.partName(first) === "std") return facts.exprMember(facts.exprLiteral("std"), this.partName(last));
    let row = facts.exprName(this.partName(first), rooted ? FILE_SCOPE : at.scope);
    for (const part of names.slice(1, -1)) row = facts.exprMember(row, this.partName(part));
    row = facts.expr(Expr.Either, facts.list([row, facts.exprLiteral("library")]));
    return facts.exprMember(row, this.partName(last));
  }

  protected argumentsOf(node: TreeNode): TreeNode[] {
    const list = this.tree.child(node, "arguments");
    return this.tree.namedChildren(list);
  }

  private call(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const calleeNode = tree.child(node, "function");
    const kind = tree.kind(calleeNode);
    const args = this.argumentsOf(node);
    if (kind === "primitive_type") {
      for (const argument of args) this.expression(argument, at);
      return facts.expr(Expr.Typed, this.type(calleeNode, at));
    }
    const special = this.castOrMake(calleeNode, kind, args, at);
    if (exists(special)) return special;
    let nameNode = calleeNode;
    let typeArgs: TypeRow[] = [];
    if (kind === "field_expression") nameNode = this.memberNode(calleeNode);
    else if (kind === "qualified_identifier") nameNode = this.parts(calleeNode).names.at(-1) ?? calleeNode;
    if (/^template_/.test(tree.kind(nameNode))) typeArgs = this.templateArguments(nameNode, at);
    const callee =
      kind === "identifier" ? facts.exprName(this.text(calleeNode), at.scope) : this.expression(calleeNode, at);
    return this.callOf(callee, args, at, tree.line(nameNode), typeArgs);
  }

  /** Walks `static_cast<T>(x)` and other casts, and `std::make_unique<T>(…)`. None for any other call. */
  private castOrMake(callee: TreeNode, kind: string, args: readonly TreeNode[], at: Place): ExprRow {
    const { tree, facts } = this;
    const template = kind === "qualified_identifier" ? (this.parts(callee).names.at(-1) ?? NONE) : callee;
    if (tree.kind(template) !== "template_function") return NONE;
    const name = this.field(template, "name");
    const cast = /^(static|dynamic|reinterpret|const)(_pointer)?_cast$/.test(name);
    if (!cast && !/^make_(unique|shared)$/.test(name)) return NONE;
    const type = this.templateArguments(template, at)[0] ?? NONE;
    const op = facts.types.op(type);
    if (cast || (op !== Type.Ref && op !== Type.Qualified)) {
      for (const argument of args) this.expression(argument, at);
      return facts.expr(Expr.Typed, type);
    }
    return this.newOf(this.classExpression(type), args, at, tree.line(template));
  }

  private creation(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const typeNode = tree.child(node, "type");
    const type = this.type(typeNode, at);
    const args = this.argumentsOf(node);
    const op = facts.types.op(type);
    if (op !== Type.Ref && op !== Type.Qualified) {
      for (const argument of args) this.expression(argument, at);
      return facts.expr(Expr.Typed, type);
    }
    const row = this.newOf(this.classExpression(type), args, at, tree.line(typeNode));
    return facts.expr(Expr.Typed, type, row);
  }
}
