/** PHP's expressions. */
import { type ExprRow, exists, isNone, NONE, type SymbolRow, type TreeNode, type TypeRow } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { Expr, SymbolFlag, Type } from "../fact-layout.ts";
import { PhpTypes } from "./types.ts";

export abstract class PhpExpressions extends PhpTypes {
  private readonly bound = new Map<number, Set<string>>();

  protected abstract parameters(list: TreeNode, symbol: SymbolRow, inside: Place, doc: string): void;
  protected abstract anonymousClass(node: TreeNode, at: Place): number;

  protected isLambda(kind: string): boolean {
    return (
      kind === "anonymous_function" || kind === "arrow_function" || kind === "anonymous_function_creation_expression"
    );
  }

  /** Binds a variable. A second binding of the same name is recorded as an assignment. */
  protected bindVariable(name: string, at: Place, type: TypeRow, value: ExprRow): void {
    const { facts } = this;
    const scope = this.home(at.scope);
    const names = this.bound.get(scope) ?? new Set<string>();
    this.bound.set(scope, names);
    if (!names.has(name)) facts.local(scope, name, type, value);
    else if (exists(value)) facts.assign(facts.exprName(name, at.scope), value, at.scope);
    names.add(name);
  }

  protected lambda(node: TreeNode, at: Place, contextual?: (parameter: number) => ExprRow): ExprRow {
    const { tree, facts } = this;
    const symbol = this.hiddenFunction(node, at);
    const inside = this.open(symbol, at);
    this.parameters(tree.child(node, "parameters"), symbol, inside, "");
    if (contextual) this.giveContext(symbol, contextual);
    const result = tree.child(node, "return_type");
    if (exists(result)) facts.setSymbol(symbol, "type", this.type(result, inside));
    const body = tree.child(node, "body");
    if (tree.kind(body) === "compound_statement") this.statements(body, inside);
    else inside.returns?.push(this.expression(body, inside));
    this.close(symbol, inside);
    return facts.expr(Expr.Function, symbol);
  }

  protected abstract giveContext(symbol: SymbolRow, contextual: (parameter: number) => ExprRow): void;

  protected expressionOf(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const kind = tree.kind(node);
    switch (kind) {
      case "variable_name":
        return this.text(node) === "$this" && exists(at.thisScope)
          ? facts.expr(Expr.This, at.thisScope, at.scope)
          : facts.exprName(this.text(node), at.scope);
      case "name":
      case "qualified_name": {
        const row = facts.exprName(this.localName(this.text(node)), this.nameScope(at));
        facts.useValue(row, at.symbol, tree.line(node));
        return row;
      }
      case "member_access_expression":
      case "nullsafe_member_access_expression":
        return this.memberAccess(node, at);
      case "member_call_expression":
      case "nullsafe_member_call_expression":
        return this.memberCall(node, at);
      case "scoped_call_expression":
        return this.scopedCall(node, at);
      case "scoped_property_access_expression": {
        const name = this.field(node, "name").replace(/^\$/, "");
        return facts.expr(Expr.Member, this.scope(tree.child(node, "scope"), at), facts.name(name), 0);
      }
      case "class_constant_access_expression": {
        const [scope = NONE, name = NONE] = tree.namedChildren(node);
        const object = this.scope(scope, at);
        return this.text(name) === "class"
          ? facts.exprLiteral("string")
          : facts.expr(Expr.Member, object, facts.name(this.text(name)), 0);
      }
      case "function_call_expression":
        return this.functionCall(node, at);
      case "object_creation_expression":
        return this.creation(node, at);
      case "assignment_expression":
      case "reference_assignment_expression":
        return this.assignment(node, at);
      case "augmented_assignment_expression": {
        const target = this.expression(tree.child(node, "left"), at);
        const value = this.expression(tree.child(node, "right"), at);
        if (this.text(node).includes("??=")) facts.assign(target, value, at.scope);
        return facts.expr(Expr.Either, facts.list([target, value]));
      }
      case "parenthesized_expression":
      case "clone_expression":
      case "argument":
      case "by_ref":
      case "error_suppression_expression":
        return this.expression(tree.namedChildren(node).at(-1) ?? NONE, at);
      case "conditional_expression": {
        const condition = this.expression(tree.child(node, "condition"), at);
        const body = tree.child(node, "body");
        const yes = isNone(body) ? condition : this.expression(body, this.narrow(tree.child(node, "condition"), at));
        return facts.expr(Expr.Either, facts.list([yes, this.expression(tree.child(node, "alternative"), at)]));
      }
      case "binary_expression":
        return this.binary(node, at);
      case "subscript_expression": {
        const [object = NONE, index = NONE] = tree.namedChildren(node);
        const row = this.expression(object, at);
        this.expression(index, at);
        return facts.expr(Expr.Index, row, -1);
      }
      default:
        return this.otherExpression(node, kind, at);
    }
  }

  private otherExpression(node: TreeNode, kind: string, at: Place): ExprRow {
    const { tree, facts } = this;
    switch (kind) {
      case "string":
      case "encapsed_string":
      case "heredoc":
      case "nowdoc":
        this.walkUnknown(node, at);
        return facts.exprLiteral("string");
      case "integer":
        return facts.exprLiteral("int");
      case "null":
        return facts.exprLiteral("null");
      case "boolean":
        return facts.exprLiteral("bool");
      case "array_creation_expression": {
        const values: ExprRow[] = [];
        for (const element of tree.namedChildren(node)) {
          const parts = tree.namedChildren(element).map((part) => this.expression(part, at));
          if (parts.length > 0) values.push(parts.at(-1)!);
        }
        return facts.expr(Expr.Rest, facts.expr(Expr.Array, facts.list(values)), 0);
      }
      case "match_expression":
        return this.matchExpression(node, at);
      case "anonymous_function":
      case "arrow_function":
        return this.lambda(node, at);
      case "throw_expression":
        this.walkUnknown(node, at);
        return facts.exprLiteral("never");
      case "yield_expression":
        this.walkUnknown(node, at);
        return facts.expr(Expr.Unknown);
      case "cast_expression":
        this.expression(tree.child(node, "value"), at);
        return facts.exprLiteral(this.field(node, "type").toLowerCase());
      case "compound_statement":
        this.statement(node, at);
        return facts.expr(Expr.Unknown);
      default:
        return this.walkUnknown(node, at);
    }
  }

  /** The expression before `::`. */
  private scope(node: TreeNode, at: Place): ExprRow {
    const kind = this.tree.kind(node);
    return kind === "name" || kind === "qualified_name" || kind === "relative_scope"
      ? this.classValue(this.text(node), at)
      : this.expression(node, at);
  }

  private memberAccess(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const object = this.expression(tree.child(node, "object"), at);
    const name = tree.child(node, "name");
    if (tree.kind(name) === "name") return facts.expr(Expr.Member, object, facts.name(this.text(name)), 0);
    this.expression(name, at);
    return facts.expr(Expr.Unknown);
  }

  private argumentsOf(node: TreeNode): TreeNode[] {
    const { tree } = this;
    const list = tree.child(node, "arguments");
    const found = exists(list) ? list : tree.childOfKind(node, "arguments");
    if (isNone(found)) return [];
    return tree.namedChildren(found).map((argument) => tree.namedChildren(argument).at(-1) ?? argument);
  }

  private memberCall(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const object = this.expression(tree.child(node, "object"), at);
    const name = tree.child(node, "name");
    let callee = facts.expr(Expr.Unknown);
    if (tree.kind(name) === "name") callee = this.calledMember(object, this.text(name));
    else this.expression(name, at);
    return this.callOf(callee, this.argumentsOf(node), at, tree.line(name));
  }

  private scopedCall(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const scopeNode = tree.child(node, "scope");
    const name = tree.child(node, "name");
    const written = this.scope(scopeNode, at);
    const named = /^(name|qualified_name)$/.test(tree.kind(scopeNode));
    if (named) facts.useValue(written, at.symbol, tree.line(scopeNode));
    const scope = named ? facts.expr(Expr.Either, facts.list([written, facts.exprLiteral("library")])) : written;
    let callee = facts.expr(Expr.Unknown);
    if (tree.kind(name) === "name") callee = this.calledMember(scope, this.text(name));
    else this.expression(name, at);
    return this.callOf(callee, this.argumentsOf(node), at, tree.line(name));
  }

  private functionCall(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const nameNode = tree.child(node, "function");
    const kind = tree.kind(nameNode);
    const callee =
      kind === "name" || kind === "qualified_name"
        ? facts.expr(Expr.Name, facts.name(this.localName(this.text(nameNode))), this.nameScope(at), 1)
        : this.expression(nameNode, at);
    return this.callOf(callee, this.argumentsOf(node), at, tree.line(nameNode));
  }

  private creation(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const anonymous = tree.childOfKind(node, "anonymous_class");
    if (exists(anonymous)) {
      const type = this.anonymousClass(anonymous, at);
      for (const argument of this.argumentsOf(anonymous)) this.expression(argument, at);
      return facts.expr(Expr.Typed, type);
    }
    const named = tree.firstNamed(node);
    const text = this.text(named);
    const args = this.argumentsOf(node);
    if (!/^(name|qualified_name|relative_scope)$/.test(tree.kind(named))) {
      this.expression(named, at);
      for (const argument of args) this.expression(argument, at);
      return facts.expr(Expr.Unknown);
    }
    if (/^(self|static)$/i.test(text) && exists(at.thisScope)) {
      const owner = facts.scopes.symbol(at.thisScope);
      const hidden = (facts.symbols.flags(owner) & SymbolFlag.Hidden) !== 0;
      const typed = facts.expr(Expr.Typed, facts.type(Type.This, at.thisScope));
      if (hidden) return typed;
      const name = facts.expr(Expr.Name, facts.symbols.name(owner), facts.symbols.scope(owner));
      this.newOf(name, args, at, tree.line(named));
      return typed;
    }
    return this.newOf(this.classValue(text, at), args, at, tree.line(named));
  }

  private assignment(node: TreeNode, at: Place): ExprRow {
    const { tree } = this;
    const value = this.expression(tree.child(node, "right"), at);
    this.bind(tree.child(node, "left"), at, value);
    return value;
  }

  /** Assigns a value to the left side of an assignment. */
  protected bind(node: TreeNode, at: Place, value: ExprRow): void {
    const { tree, facts } = this;
    const kind = tree.kind(node);
    if (kind === "variable_name") this.bindVariable(this.text(node), at, this.varComment(node, at), value);
    else if (kind === "by_ref") this.bind(tree.firstNamed(node), at, value);
    else if (kind === "list_literal" || kind === "array_creation_expression")
      for (const [i, child] of tree.namedChildren(node).entries()) {
        const part = facts.expr(Expr.Index, value, facts.name(String(i)));
        const inner = tree.kind(child) === "array_element_initializer" ? tree.namedChildren(child).at(-1) : child;
        this.bind(inner ?? NONE, at, part);
      }
    else if (exists(node)) facts.assign(this.expression(node, at), value, at.scope);
  }

  /** The type in a `@var` doc comment before the statement that assigns the variable. */
  private varComment(node: TreeNode, at: Place): TypeRow {
    const { tree } = this;
    let statement = node;
    while (exists(tree.parent(statement)) && tree.kind(statement) !== "expression_statement")
      statement = tree.parent(statement);
    if (tree.kind(statement) !== "expression_statement") return NONE;
    const doc = this.docComment(statement);
    if (!doc.includes("@var")) return NONE;
    const named = this.tagType(doc, "var", this.text(node).slice(1), at, tree.line(node));
    return exists(named) || /\$\w/.test(doc) ? named : this.tagType(doc, "var", "", at, tree.line(node));
  }

  private binary(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const left = tree.child(node, "left");
    const right = tree.child(node, "right");
    const operator = tree.text.slice(tree.endIndex(left), tree.startIndex(right)).trim().toLowerCase();
    const first = this.expression(left, at);
    if (operator === "instanceof") {
      if (/^(name|qualified_name)$/.test(tree.kind(right))) this.className(this.text(right), at, tree.line(right));
      else this.expression(right, at);
      return facts.exprLiteral("bool");
    }
    const second = this.expression(right, operator === "&&" || operator === "and" ? this.narrow(left, at) : at);
    if (operator === "??" || operator === "?:") return facts.expr(Expr.Either, facts.list([first, second]));
    return facts.exprLiteral(operator === "." ? "string" : /^[-+*/%]|^\*\*$/.test(operator) ? "int" : "bool");
  }

  private matchExpression(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    this.expression(tree.child(node, "condition"), at);
    const body = tree.child(node, "body");
    const rows: ExprRow[] = [];
    for (const arm of tree.namedChildren(body)) {
      const conditions = tree.child(arm, "conditional_expressions");
      if (exists(conditions)) this.walkUnknown(conditions, at);
      rows.push(this.expression(tree.child(arm, "return_expression"), at));
    }
    return facts.expr(Expr.Either, facts.list(rows.filter((row) => exists(row))));
  }

  /** A place with the narrowings that a condition implies: `$x instanceof C`, also joined by `&&`. */
  protected narrow(condition: TreeNode, at: Place): Place {
    const tests: TreeNode[] = [];
    this.collectTests(condition, tests);
    if (tests.length === 0) return at;
    const { tree, facts } = this;
    const inside = this.block(at);
    for (const test of tests) {
      const path = this.text(tree.child(test, "left"))
        .replace(/^\$this\b/, "this")
        .replaceAll("->", ".");
      const type = this.className(this.text(tree.child(test, "right")), at, tree.line(test));
      if (exists(type)) facts.narrow(inside.scope, path, type);
    }
    return inside;
  }

  private collectTests(node: TreeNode, tests: TreeNode[]): void {
    const { tree } = this;
    const kind = tree.kind(node);
    if (kind === "parenthesized_expression") this.collectTests(tree.firstNamed(node), tests);
    if (kind !== "binary_expression") return;
    const operator = this.text(tree.child(node, "operator")).toLowerCase();
    if (operator === "&&" || operator === "and") {
      this.collectTests(tree.child(node, "left"), tests);
      this.collectTests(tree.child(node, "right"), tests);
    } else if (operator === "instanceof" && /^(name|qualified_name)$/.test(tree.kind(tree.child(node, "right"))))
      tests.push(node);
  }
}
