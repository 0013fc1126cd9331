/** Python's expressions. */
import { type BindingRow, type ExprRow, exists, type NameRow, NONE, type ScopeRow, type TreeNode } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { BindingKind, Expr, ScopeKind, Type } from "../fact-layout.ts";
import { PythonBinding } from "./binding.ts";
import { KEEPS_ELEMENTS, OPERATORS } from "./library.ts";

export abstract class PythonExpressions extends PythonBinding {
  /** For each method's scope the name of the receiver, and whether it is the class itself. */
  protected readonly receivers = new Map<number, { name: string; isClass: boolean; thisScope: ScopeRow }>();
  protected abstract parameters(list: TreeNode, symbol: number, inside: Place): void;

  protected isLambda(kind: string): boolean {
    return kind === "lambda";
  }

  /** The meaning of `self` or `cls`; none if the name is neither. */
  private receiver(name: string, at: Place): ExprRow {
    const { facts } = this;
    for (let scope = at.scope; exists(scope); scope = facts.scopes.parent(scope)) {
      const known = this.receivers.get(scope);
      if (known?.name === name) {
        const owner = facts.scopes.symbol(known.thisScope);
        if (known.isClass) return facts.expr(Expr.Name, facts.symbols.name(owner), facts.symbols.scope(owner));
        return facts.expr(Expr.This, known.thisScope, at.scope);
      }
      if (this.bound.get(scope)?.has(name)) return NONE;
    }
    return NONE;
  }

  protected lambda(node: TreeNode, at: Place, contextual?: (parameter: number) => ExprRow): ExprRow {
    const { tree, facts } = this;
    const symbol = this.hiddenFunction(node, at);
    const inside = this.open(symbol, at);
    const list = tree.child(node, "parameters");
    const rows: BindingRow[] = [];
    for (const [i, parameter] of tree.namedChildren(list).entries()) {
      const named = tree.child(parameter, "name");
      const name = exists(named)
        ? named
        : tree.kind(parameter) === "identifier"
          ? parameter
          : tree.firstNamed(parameter);
      const given = tree.child(parameter, "value");
      const value = exists(given) ? this.expression(given, at) : (contextual?.(i) ?? NONE);
      this.namesOf(inside.scope).add(this.text(name));
      rows.push(facts.local(inside.scope, this.text(name), NONE, value, BindingKind.Parameter));
    }
    facts.setSymbol(symbol, "parameters", facts.list(rows));
    inside.returns?.push(this.expression(tree.child(node, "body"), inside));
    this.close(symbol, inside);
    return facts.expr(Expr.Function, symbol);
  }

  protected expressionOf(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "identifier": {
        const receiver = this.receiver(this.text(node), at);
        return exists(receiver) ? receiver : this.name(node, at);
      }
      case "attribute":
        return this.attribute(node, at);
      case "call":
        return this.call(node, at);
      case "subscript":
        return this.subscript(node, at);
      case "parenthesized_expression":
      case "type":
        return this.expression(tree.firstNamed(node), at);
      case "await":
        return facts.expr(Expr.Await, this.expression(tree.firstNamed(node), at));
      case "lambda":
        return this.lambda(node, at);
      case "conditional_expression": {
        const [yes = NONE, condition = NONE, no = NONE] = tree.namedChildren(node);
        this.expression(condition, at);
        const first = this.expression(yes, this.narrow(condition, at));
        return facts.expr(Expr.Either, facts.list([first, this.expression(no, at)]));
      }
      case "boolean_operator": {
        const left = tree.child(node, "left");
        const either = tree.kind(tree.child(node, "operator")) === "or";
        const first = this.expression(left, at);
        const second = this.expression(tree.child(node, "right"), either ? at : this.narrow(left, at));
        return either ? facts.expr(Expr.Either, facts.list([first, second])) : second;
      }
      case "comparison_operator":
      case "not_operator":
        this.walkUnknown(node, at);
        return facts.exprLiteral("bool");
      case "binary_operator": {
        const left = this.expression(tree.child(node, "left"), at);
        const right = this.expression(tree.child(node, "right"), at);
        if (facts.exprs.op(left) === Expr.Literal) return left;
        const method = OPERATORS[this.text(tree.child(node, "operator"))];
        return method ? facts.exprCall(facts.exprMember(left, method), [right]) : facts.expr(Expr.Unknown);
      }
      case "named_expression": {
        const value = this.expression(tree.child(node, "value"), at);
        this.bindName(this.field(node, "name"), at, NONE, value);
        return value;
      }
      case "yield": {
        const from = exists(tree.childOfKind(node, "from"));
        const value = this.expression(tree.firstNamed(node), at);
        if (exists(value)) at.returns?.push(from ? facts.expr(Expr.Iterate, value) : value);
        return this.sent < 0 || from ? facts.expr(Expr.Unknown) : facts.expr(Expr.Typed, this.sent);
      }
      default:
        return this.display(node, at);
    }
  }

  /** Walks literals, displays and comprehensions. */
  private display(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "string":
      case "concatenated_string":
        this.walkUnknown(node, at);
        return facts.exprLiteral("string");
      case "interpolation":
        return this.expression(tree.child(node, "expression"), at);
      case "integer":
        return facts.exprLiteral("int");
      case "float":
        return facts.exprLiteral("float");
      case "true":
      case "false":
        return facts.exprLiteral("bool");
      case "none":
        return facts.exprLiteral("null");
      case "tuple":
      case "expression_list":
        return facts.expr(Expr.Array, facts.list(tree.namedChildren(node).map((child) => this.walkValue(child, at))));
      case "list":
      case "set": {
        const items = tree.namedChildren(node).map((child) => this.walkValue(child, at));
        return facts.expr(Expr.Rest, facts.expr(Expr.Array, facts.list(items)), 0);
      }
      case "list_splat":
        return facts.expr(Expr.Iterate, this.expression(tree.firstNamed(node), at));
      case "dictionary":
        return this.dictionary(node, at);
      case "list_comprehension":
      case "set_comprehension":
      case "generator_expression": {
        const value = this.comprehension(node, at);
        return facts.expr(
          Expr.Rest,
          facts.expr(Expr.Array, facts.list([facts.expr(Expr.Either, facts.list([value]))])),
          0,
        );
      }
      case "dictionary_comprehension":
        this.comprehension(node, at);
        return facts.exprLiteral("dict");
      case "keyword_argument":
        return this.expression(tree.child(node, "value"), at);
      case "block":
        this.statements(node, at);
        return facts.expr(Expr.Unknown);
      case "unary_operator":
        return this.expression(tree.child(node, "argument"), at);
      default:
        return this.walkUnknown(node, at);
    }
  }

  private dictionary(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const values: ExprRow[] = [];
    for (const child of tree.namedChildren(node)) {
      if (tree.kind(child) !== "pair") this.expression(child, at);
      else {
        this.expression(tree.child(child, "key"), at);
        values.push(this.walkValue(tree.child(child, "value"), at));
      }
    }
    if (values.length === 0) return facts.exprLiteral("dict");
    const value = facts.type(Type.TypeOf, facts.expr(Expr.Either, facts.list(values)));
    return this.createTyped(this.builtinType("dict", [this.builtinType("string"), value]));
  }

  /** Walks a comprehension, in a scope of its own. @returns the value that it yields */
  private comprehension(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const scope = facts.scope(at.scope, ScopeKind.Block);
    this.comprehensions.add(scope);
    let inside: Place = { ...at, scope };
    for (const child of tree.namedChildren(node)) {
      if (tree.kind(child) === "for_in_clause") this.bindLoop(child, inside);
      else if (tree.kind(child) === "if_clause") {
        this.expression(tree.firstNamed(child), inside);
        inside = this.narrow(tree.firstNamed(child), inside);
      }
    }
    const body = tree.child(node, "body");
    if (tree.kind(body) !== "pair") return this.expression(body, inside);
    this.expression(tree.child(body, "key"), inside);
    return this.expression(tree.child(body, "value"), inside);
  }

  /** Binds the variables of a `for`. */
  protected bindLoop(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const left = tree.child(node, "left");
    const right = tree.child(node, "right");
    const over = this.expression(right, at);
    const callee = tree.kind(right) === "call" ? this.field(right, "function") : "";
    const parts = /^(pattern_list|tuple_pattern)$/.test(tree.kind(left)) ? tree.namedChildren(left) : [];
    const args = facts.exprs.op(over) === Expr.Call ? this.argumentRows.get(over) : undefined;
    if (callee === "enumerate" && parts.length === 2 && args?.[0] !== undefined) {
      this.bindPattern(parts[0]!, at, facts.exprLiteral("int"));
      this.bindPattern(parts[1]!, at, facts.expr(Expr.Iterate, args[0]));
    } else if (callee === "zip" && args && parts.length === args.length)
      for (const [i, part] of parts.entries()) this.bindPattern(part, at, facts.expr(Expr.Iterate, args[i]!));
    else this.bindPattern(left, at, facts.expr(Expr.Iterate, over));
  }

  /** Arguments of calls by row, for built-in functions that pass their arguments on. */
  private readonly argumentRows = new Map<ExprRow, readonly ExprRow[]>();

  private attribute(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const name = this.field(node, "attribute");
    const object = this.expression(tree.child(node, "object"), at);
    if (name === "__class__" && facts.exprs.op(object) === Expr.This) return this.classOf(object);
    return facts.exprMember(object, name);
  }

  /** The class of `self`, as it is written. */
  private classOf(self: ExprRow): ExprRow {
    const { facts } = this;
    const owner = facts.scopes.symbol(facts.exprs.thisScope(self));
    return facts.expr(Expr.Name, facts.symbols.name(owner), facts.symbols.scope(owner));
  }

  private subscript(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const object = this.expression(tree.child(node, "value"), at);
    let key: NameRow = NONE;
    let slice = false;
    for (const child of tree.namedChildren(node)) {
      if (tree.fieldName(child) !== "subscript") continue;
      this.expression(child, at);
      if (tree.kind(child) === "integer") key = facts.name(this.text(child));
      if (tree.kind(child) === "slice") slice = true;
    }
    return slice ? facts.expr(Expr.Rest, object, 0) : facts.expr(Expr.Index, object, key);
  }

  private call(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const calleeNode = tree.child(node, "function");
    const list = tree.child(node, "arguments");
    const name = tree.kind(calleeNode) === "identifier" ? this.text(calleeNode) : "";
    const args = tree.kind(list) === "argument_list" ? tree.namedChildren(list) : [list];
    if (name === "super" && exists(at.thisScope)) {
      for (const argument of args) this.expression(argument, at);
      return facts.expr(Expr.Super, at.thisScope);
    }
    if (name === "cast" && args.length === 2 && this.typingNames.get("cast") === "cast") {
      this.expression(args[1]!, at);
      return this.createTyped(this.type(args[0]!, at));
    }
    const callee = this.callee(calleeNode, at);
    const values = args.map((argument) =>
      tree.kind(argument) === "keyword_argument" ? tree.child(argument, "value") : argument,
    );
    const nameNode = tree.kind(calleeNode) === "attribute" ? tree.child(calleeNode, "attribute") : calleeNode;
    const row = this.callOf(callee, values, at, tree.line(nameNode));
    return name === "" ? row : this.builtinResult(name, row, values, at);
  }

  /** The result of built-in functions whose result type depends on their arguments. */
  private builtinResult(name: string, row: ExprRow, args: readonly TreeNode[], at: Place): ExprRow {
    const { tree, facts } = this;
    const first = this.listPassed(row)[0] ?? NONE;
    if (name === "enumerate" || name === "zip") this.argumentRows.set(row, this.listPassed(row));
    if (first < 0 || this.isShadowed(name, at)) return row;
    if (KEEPS_ELEMENTS.has(name)) return facts.expr(Expr.Rest, first, 0);
    if (name === "next") return facts.expr(Expr.Iterate, first);
    if (name === "type" && args.length === 1 && facts.exprs.op(first) === Expr.This) return this.classOf(first);
    if (name === "str" || name === "repr") return facts.exprLiteral("string");
    if (name === "len" || name === "int") return facts.exprLiteral("int");
    return tree.kind(args[0]!) === "none" ? facts.expr(Expr.Unknown) : row;
  }

  private isShadowed(name: string, at: Place): boolean {
    for (let scope = at.scope; exists(scope); scope = this.facts.scopes.parent(scope))
      if (this.bound.get(scope)?.has(name)) return true;
    return false;
  }

  private listPassed(call: ExprRow): readonly ExprRow[] {
    return this.passedRows.get(call) ?? [];
  }
  private readonly passedRows = new Map<ExprRow, readonly ExprRow[]>();

  override callOf(callee: ExprRow, args: readonly TreeNode[], at: Place, line: number): ExprRow {
    const { facts } = this;
    const row = facts.expr(Expr.Call, callee);
    const rows = args.map((argument, i) =>
      this.isLambda(this.tree.kind(argument))
        ? this.lambda(argument, at, (parameter) => facts.expr(Expr.Contextual, row, i, parameter))
        : this.expression(argument, at),
    );
    this.passedRows.set(row, rows);
    facts.exprs.setArgs(row, facts.list(rows));
    facts.call(row, at.symbol, line);
    return row;
  }

  /** Walks the callee of a call. A called name does not also count as used. */
  private callee(node: TreeNode, at: Place): ExprRow {
    if (this.tree.kind(node) !== "identifier") return this.expression(node, at);
    const receiver = this.receiver(this.text(node), at);
    return exists(receiver) ? receiver : this.plainName(this.text(node), at);
  }

  /** A place with the narrowings that a condition implies: `isinstance(x, C)`, also joined by `and`. */
  protected narrow(condition: TreeNode, at: Place): Place {
    const tests: TreeNode[] = [];
    this.collectTests(condition, tests);
    if (tests.length === 0) return at;
    const { tree, facts } = this;
    const inside = this.block(at);
    for (const test of tests) {
      const [subject = NONE, wanted = NONE] = tree.namedChildren(tree.child(test, "arguments"));
      const path = this.path(subject, at);
      const type = path === "" ? NONE : this.namedClass(wanted, at);
      if (exists(type)) facts.narrow(inside.scope, path, type);
    }
    return inside;
  }

  private collectTests(node: TreeNode, tests: TreeNode[]): void {
    const { tree } = this;
    const kind = tree.kind(node);
    if (kind === "parenthesized_expression") this.collectTests(tree.firstNamed(node), tests);
    else if (kind === "boolean_operator" && tree.kind(tree.child(node, "operator")) === "and") {
      this.collectTests(tree.child(node, "left"), tests);
      this.collectTests(tree.child(node, "right"), tests);
    } else if (kind === "call" && this.field(node, "function") === "isinstance") tests.push(node);
  }

  /** A chain of names in the form that narrowing uses; "" for any other expression. */
  private path(node: TreeNode, at: Place): string {
    const { tree } = this;
    if (tree.kind(node) === "attribute") {
      const object = this.path(tree.child(node, "object"), at);
      return object === "" ? "" : `${object}.${this.field(node, "attribute")}`;
    }
    if (tree.kind(node) !== "identifier") return "";
    const receiver = this.receiver(this.text(node), at);
    return this.facts.exprs.op(receiver) === Expr.This ? "this" : this.text(node);
  }
}
