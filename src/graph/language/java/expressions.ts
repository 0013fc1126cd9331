/** Java's types and expressions. */
import { type ExprRow, exists, isNone, NONE, type SymbolRow, type TreeNode, type TypeRow } from "../../rows.ts";
import { BlockWalk, type Place } from "../block-walk.ts";
import { Expr, HeritageKind, SymbolFlag, Type } from "../fact-layout.ts";
import { containerOf, plainValue } from "./library.ts";

export abstract class JavaExpressions extends BlockWalk {
  /** Simple names that the file imports: those from the language's library, and those from elsewhere. */
  protected readonly libraryNames = new Set<string>();
  protected readonly importedNames = new Set<string>();
  /** The scope of the innermost class with each name, for `Outer.this`. */
  protected readonly classScopes = new Map<string, number>();

  /** Declares the members of a class body under `at.parent`. */
  protected abstract classBody(node: TreeNode, at: Place): void;
  /** Declares a function's parameters, and sets the symbol's columns for them. */
  protected abstract parameters(list: TreeNode, symbol: SymbolRow, inside: Place): void;
  protected abstract switchBody(node: TreeNode, at: Place): ExprRow[];

  protected isLambda(kind: string): boolean {
    return kind === "lambda_expression";
  }

  protected typeOf(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "type_identifier":
      case "identifier":
        return this.namedType(this.text(node), at, tree.line(node), []);
      case "integral_type":
      case "floating_point_type":
      case "boolean_type":
        return this.builtinType(plainValue(this.text(node)) ?? this.text(node));
      case "void_type":
        return this.builtinType("void");
      case "generic_type": {
        const named = tree.firstNamed(node);
        const argsNode = tree.childOfKind(node, "type_arguments");
        const args = tree.namedChildren(argsNode).map((child) => this.type(child, at));
        if (tree.kind(named) === "scoped_type_identifier") return this.scopedType(named, at, args);
        return this.namedType(this.text(named), at, tree.line(node), args);
      }
      case "scoped_type_identifier":
        return this.scopedType(node, at, []);
      case "array_type":
        return facts.type(Type.Array, this.type(tree.child(node, "element"), at));
      case "annotated_type":
      case "catch_type":
      case "type_list": {
        const rows = tree
          .namedChildren(node)
          .filter((child) => !tree.kind(child).includes("annotation"))
          .map((child) => this.type(child, at));
        return rows.length === 1 ? rows[0]! : facts.type(Type.Union, facts.list(rows));
      }
      case "wildcard": {
        const bound = tree.namedChildren(node).at(-1);
        return bound === undefined ? facts.type(Type.Unknown) : this.type(bound, at);
      }
      default:
        for (const child of tree.namedChildren(node)) this.type(child, at);
        return facts.type(Type.Unknown);
    }
  }

  private namedType(name: string, at: Place, line: number, args: readonly TypeRow[]): TypeRow {
    const library = this.libraryNames.has(name) || (!this.importedNames.has(name) && this.libraryNames.has("*"));
    const container = library ? containerOf(name) : undefined;
    if (container) return this.builtinType(container, args);
    const plain = this.importedNames.has(name) ? undefined : plainValue(name);
    return plain ? this.builtinType(plain) : this.ref(name, at, line, args);
  }

  private scopedType(node: TreeNode, at: Place, args: readonly TypeRow[]): TypeRow {
    const { tree, facts } = this;
    let left: TypeRow = NONE;
    const parts = tree
      .source(node)
      .replace(/@\w+\s*/g, "")
      .split(".")
      .map(withoutTypeArguments);
    for (const [i, part] of parts.entries()) {
      const name = part.trim();
      const last = i === parts.length - 1;
      left = isNone(left)
        ? facts.typeRef(name, at.scope)
        : facts.type(Type.Qualified, left, facts.name(name), last ? facts.list(args) : NONE);
    }
    facts.useType(left, at.symbol, tree.line(node));
    return left;
  }

  protected lambda(node: TreeNode, at: Place, contextual?: (parameter: number) => ExprRow): ExprRow {
    const { tree, facts } = this;
    const symbol = this.hiddenFunction(node, at);
    const inside = this.open(symbol, at);
    const list = tree.child(node, "parameters");
    if (tree.kind(list) === "formal_parameters") this.parameters(list, symbol, inside);
    else {
      const names = tree.kind(list) === "identifier" ? [list] : tree.namedChildren(list);
      const rows = names.map((name, i) => this.local(this.text(name), inside, NONE, contextual?.(i) ?? NONE, true));
      facts.setSymbol(symbol, "parameters", facts.list(rows));
    }
    const body = tree.child(node, "body");
    if (tree.kind(body) === "block") this.statements(body, inside);
    else inside.returns?.push(this.expression(body, inside));
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
      case "super":
        return facts.expr(Expr.Super, at.thisScope);
      case "field_access":
        return this.fieldAccess(node, at);
      case "method_invocation":
        return this.invocation(node, at);
      case "object_creation_expression":
        return this.creation(node, at);
      case "explicit_constructor_invocation":
        return this.constructorCall(node, at);
      case "lambda_expression":
        return this.lambda(node, at);
      case "method_reference":
        return this.methodReference(node, at);
      case "cast_expression": {
        const value = this.expression(tree.child(node, "value"), at);
        return facts.expr(Expr.Typed, this.type(tree.child(node, "type"), at), value);
      }
      case "instanceof_expression":
        return this.instanceOf(node, at);
      case "ternary_expression": {
        this.expression(tree.child(node, "condition"), at);
        const yes = this.expression(tree.child(node, "consequence"), at);
        return facts.expr(Expr.Either, facts.list([yes, this.expression(tree.child(node, "alternative"), at)]));
      }
      case "assignment_expression": {
        const target = this.expression(tree.child(node, "left"), at);
        const value = this.expression(tree.child(node, "right"), at);
        facts.assign(target, value, at.scope);
        return value;
      }
      case "array_access":
        this.expression(tree.child(node, "index"), at);
        return facts.expr(Expr.Index, this.expression(tree.child(node, "array"), at), -1);
      case "array_creation_expression": {
        for (const child of tree.namedChildren(node)) {
          if (tree.fieldName(child) === "type") continue;
          this.expression(child, at);
        }
        return facts.expr(Expr.Typed, facts.type(Type.Array, this.type(tree.child(node, "type"), at)));
      }
      case "parenthesized_expression":
        return this.expression(tree.firstNamed(node), at);
      case "binary_expression":
        return this.binary(node, at);
      case "unary_expression":
      case "update_expression": {
        const value = this.expression(tree.firstNamed(node), at);
        return exists(tree.childOfKind(node, "!")) ? facts.exprLiteral("bool") : value;
      }
      case "class_literal":
        this.type(tree.firstNamed(node), at);
        return facts.exprLiteral("Class");
      case "switch_expression": {
        this.expression(tree.child(node, "condition"), at);
        return facts.expr(Expr.Either, facts.list(this.switchBody(tree.child(node, "body"), at)));
      }
      default:
        return this.literal(node, at);
    }
  }

  private literal(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const kind = tree.kind(node);
    switch (kind) {
      case "string_literal":
        return facts.exprLiteral("string");
      case "character_literal":
        return facts.exprLiteral("char");
      case "true":
      case "false":
        return facts.exprLiteral("bool");
      case "null_literal":
        return facts.exprLiteral("null");
      case "decimal_floating_point_literal":
      case "hex_floating_point_literal":
        return facts.exprLiteral(/f$/i.test(this.text(node)) ? "float" : "double");
      case "template_expression":
        return this.walkUnknown(node, at);
      default:
        if (kind.endsWith("integer_literal")) return facts.exprLiteral(/l$/i.test(this.text(node)) ? "long" : "int");
        return this.walkUnknown(node, at);
    }
  }

  private fieldAccess(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const object = tree.child(node, "object");
    const field = tree.child(node, "field");
    if (tree.kind(field) === "this") {
      const scope = this.classScopes.get(this.text(object).split(".").pop()!);
      return facts.expr(Expr.This, scope ?? at.thisScope);
    }
    return facts.expr(Expr.Member, this.expression(object, at), facts.name(this.text(field)), 0);
  }

  protected argumentsOf(node: TreeNode): TreeNode[] {
    const list = this.tree.child(node, "arguments");
    return this.tree.namedChildren(list);
  }

  private invocation(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const object = tree.child(node, "object");
    const nameNode = tree.child(node, "name");
    const name = this.text(nameNode);
    const typeArgsNode = tree.childOfKind(node, "type_arguments");
    const typeArgs = tree.namedChildren(typeArgsNode).map((child) => this.type(child, at));
    const callee = isNone(object)
      ? facts.expr(Expr.Name, facts.name(name), at.scope, 1)
      : this.calledMember(this.receiver(node, object, at), name);
    const args = this.argumentsOf(node);
    const row = this.callOf(callee, args, at, tree.line(nameNode), typeArgs);
    return name === "getClass" && args.length === 0 ? facts.exprLiteral("Class") : row;
  }

  /** The receiver of a call. In `Outer.super.m()`, a default method of the interface `Outer` is meant. */
  private receiver(node: TreeNode, object: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const superNode = tree.childOfKind(node, "super");
    if (exists(superNode) && superNode !== object) return facts.expr(Expr.Typed, this.type(object, at));
    return this.expression(object, at);
  }

  private creation(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const typeNode = tree.child(node, "type");
    const outer = tree.firstNamed(node);
    // Handles `outer.new Inner()`.
    if (
      exists(outer) &&
      tree.endIndex(outer) < tree.startIndex(typeNode) &&
      !/annotation|type_arguments/.test(tree.kind(outer))
    ) {
      const inner = facts.exprMember(this.expression(outer, at), this.text(typeNode).replace(/<[\s\S]*/, ""));
      return this.newOf(inner, this.argumentsOf(node), at, tree.line(typeNode));
    }
    const type = this.type(typeNode, at);
    const body = tree.childOfKind(node, "class_body");
    if (exists(body)) this.anonymous(node, body, type, at);
    return this.construction(type, typeNode, this.argumentsOf(node), at);
  }

  /** Declares the body of an anonymous class or enum constant: a hidden class that extends its type. */
  protected anonymous(node: TreeNode, body: TreeNode, base: TypeRow, at: Place): void {
    const hidden = this.declare({ label: "Class", name: "", node, body, flags: SymbolFlag.Hidden }, at);
    if (exists(base)) this.facts.heritage(hidden, HeritageKind.Extends, base, this.tree.line(node));
    this.classBody(body, this.openClass(hidden, at));
  }

  private constructorCall(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const called = tree.child(node, "constructor");
    const args = this.argumentsOf(node);
    if (tree.kind(called) === "super")
      return this.callOf(facts.expr(Expr.Super, at.thisScope), args, at, tree.line(node));
    const owner = isNone(at.thisScope) ? NONE : facts.scopes.symbol(at.thisScope);
    if (isNone(owner)) return this.walkUnknown(node, at);
    const own = facts.expr(Expr.Name, facts.symbols.name(owner), facts.symbols.scope(owner));
    return this.newOf(own, args, at, tree.line(node));
  }

  private methodReference(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const [left, right] = tree.namedChildren(node);
    if (left === undefined) return facts.expr(Expr.Unknown);
    const object = /type/.test(tree.kind(left))
      ? facts.expr(Expr.Typed, this.type(left, at))
      : this.expression(left, at);
    if (right === undefined || tree.kind(right) !== "identifier") return facts.expr(Expr.Unknown);
    return this.calledMember(object, this.text(right));
  }

  private instanceOf(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    this.expression(tree.child(node, "left"), at);
    const right = tree.child(node, "right");
    const type = exists(right) ? this.type(right, at) : NONE;
    const name = tree.child(node, "name");
    if (exists(name)) this.local(this.text(name), at, type, NONE);
    const pattern = tree.child(node, "pattern");
    if (exists(pattern)) this.pattern(pattern, at);
    return facts.exprLiteral("bool");
  }

  /** Binds the names of a pattern: `Item q`, `Point(int x, var y)`. */
  protected pattern(node: TreeNode, at: Place): void {
    const { tree } = this;
    if (tree.kind(node) === "type_pattern" || tree.kind(node) === "record_pattern_component") {
      const [type, name] = tree.namedChildren(node);
      if (type === undefined || name === undefined) return;
      this.local(this.text(name), at, this.text(type) === "var" ? NONE : this.type(type, at), NONE);
    } else for (const child of tree.namedChildren(node)) this.pattern(child, at);
  }

  private binary(node: TreeNode, at: Place): ExprRow {
    const left = this.expression(this.tree.child(node, "left"), at);
    const right = this.expression(this.tree.child(node, "right"), at);
    return this.operation(this.operatorOf(node), left, right);
  }
}

/** Removes type arguments: `List<String>` → `List`. */
function withoutTypeArguments(part: string): string {
  const [open, close] = [part.indexOf("<"), part.lastIndexOf(">")];
  return open === -1 || close < open ? part : part.slice(0, open) + part.slice(close + 1);
}
