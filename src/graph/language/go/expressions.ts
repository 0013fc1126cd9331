/** Go's types and expressions. */
import {
  type BindingRow,
  type ExprRow,
  exists,
  isNone,
  NONE,
  type SymbolRow,
  type TreeNode,
  type TypeRow,
} from "../../rows.ts";
import { BlockWalk, type Place, packArity } from "../block-walk.ts";
import { BindingKind, Expr, SymbolFlag, Type } from "../fact-layout.ts";

const SCALARS = /^(bool|string|byte|rune|u?int(8|16|32|64)?|uintptr|float(32|64)|complex(64|128))$/;

export abstract class GoExpressions extends BlockWalk {
  protected isLambda(kind: string): boolean {
    return kind === "func_literal";
  }

  protected typeOf(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "type_identifier":
      case "identifier":
      case "field_identifier": {
        const name = this.text(node);
        return SCALARS.test(name) ? this.builtinType(name) : this.ref(name, at, tree.line(node));
      }
      case "qualified_type": {
        const left = facts.typeRef(this.field(node, "package"), at.scope);
        const row = facts.type(Type.Qualified, left, facts.name(this.field(node, "name")), NONE);
        facts.useType(row, at.symbol, tree.line(node));
        return row;
      }
      case "generic_type":
        return this.genericType(node, at);
      case "pointer_type":
      case "parenthesized_type":
      case "negated_type":
      case "type_elem":
      case "type_constraint":
        return this.typeList(tree.namedChildren(node), at);
      case "slice_type":
      case "array_type":
      case "implicit_length_array_type":
        if (exists(tree.child(node, "length"))) this.expression(tree.child(node, "length"), at);
        return facts.type(Type.Array, this.type(tree.child(node, "element"), at));
      case "map_type": {
        const key = this.type(tree.child(node, "key"), at);
        return this.builtinType("Map", [key, this.type(tree.child(node, "value"), at)]);
      }
      case "channel_type":
        return facts.type(Type.Array, this.type(tree.child(node, "value"), at));
      case "function_type": {
        const symbol = this.hiddenFunction(node, at, SymbolFlag.Signature);
        this.signatureOf(node, symbol, this.open(symbol, at));
        return facts.type(Type.Function, symbol);
      }
      case "struct_type":
      case "interface_type": {
        const hidden = this.declare({ label: "Struct", name: "", node, body: NONE, flags: SymbolFlag.Hidden }, at);
        this.members(node, this.openClass(hidden, at), hidden);
        return facts.type(Type.Object, hidden);
      }
      default:
        for (const child of tree.namedChildren(node)) this.type(child, at);
        return facts.type(Type.Unknown);
    }
  }

  /** Declares the fields or methods of a struct or interface type under a symbol. */
  protected abstract members(node: TreeNode, at: Place, owner: SymbolRow): void;

  private typeList(nodes: readonly TreeNode[], at: Place): TypeRow {
    const rows = nodes.map((child) => this.type(child, at));
    return rows.length === 1 ? rows[0]! : this.facts.type(Type.Union, this.facts.list(rows));
  }

  private genericType(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    const named = tree.child(node, "type");
    const argsNode = tree.child(node, "type_arguments");
    const args = tree.namedChildren(argsNode).map((child) => this.type(child, at));
    if (tree.kind(named) === "qualified_type") {
      const left = facts.typeRef(this.field(named, "package"), at.scope);
      const row = facts.type(Type.Qualified, left, facts.name(this.field(named, "name")), facts.list(args));
      facts.useType(row, at.symbol, tree.line(node));
      return row;
    }
    return this.ref(this.text(named), at, tree.line(node), args);
  }

  /** Declares the type parameters, parameters and result of a function. `inside` is its scope. */
  protected signatureOf(node: TreeNode, symbol: SymbolRow, inside: Place): void {
    const { tree, facts } = this;
    this.typeParameters(tree.child(node, "type_parameters"), symbol, inside);
    const list = tree.child(node, "parameters");
    const rows: BindingRow[] = [];
    let variadic = false;
    if (exists(list)) {
      for (const parameter of tree.namedChildren(list)) {
        const many = tree.kind(parameter) === "variadic_parameter_declaration";
        if (many) variadic = true;
        const element = this.type(tree.child(parameter, "type"), inside);
        const type = many ? facts.type(Type.Array, element) : element;
        const names = tree.namedChildren(parameter).filter((child) => tree.fieldName(child) === "name");
        if (names.length === 0) rows.push(this.local("_", inside, type, NONE, true));
        for (const name of names) rows.push(this.local(this.text(name), inside, type, NONE, true));
      }
    }
    facts.setSymbol(symbol, "parameters", facts.list(rows));
    facts.setSymbol(symbol, "arity", packArity(variadic ? rows.length - 1 : rows.length, rows.length, variadic));
    const result = tree.child(node, "result");
    if (exists(result)) facts.setSymbol(symbol, "type", this.resultType(result, inside));
  }

  private resultType(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    if (tree.kind(node) !== "parameter_list") return this.type(node, at);
    const rows: TypeRow[] = [];
    for (const parameter of tree.namedChildren(node)) {
      const type = this.type(tree.child(parameter, "type"), at);
      const names = tree.namedChildren(parameter).filter((child) => tree.fieldName(child) === "name");
      for (const name of names) this.local(this.text(name), at, type, NONE);
      for (let i = 0; i < Math.max(1, names.length); i++) rows.push(type);
    }
    return rows.length === 1 ? rows[0]! : facts.type(Type.Tuple, facts.list(rows));
  }

  protected typeParameters(list: TreeNode, symbol: SymbolRow, at: Place): void {
    const { tree, facts } = this;
    if (isNone(list)) return;
    const rows: BindingRow[] = [];
    for (const parameter of tree.namedChildren(list)) {
      const constraint = this.type(tree.child(parameter, "type"), at);
      for (const child of tree.namedChildren(parameter))
        if (tree.fieldName(child) === "name")
          rows.push(facts.local(at.scope, this.text(child), constraint, NONE, BindingKind.TypeParameter));
    }
    facts.setSymbol(symbol, "typeParameters", facts.list(rows));
  }

  protected lambda(node: TreeNode, at: Place): ExprRow {
    const symbol = this.hiddenFunction(node, at);
    const inside = this.open(symbol, at);
    this.signatureOf(node, symbol, inside);
    this.statements(this.tree.child(node, "body"), inside);
    this.close(symbol, inside);
    return this.facts.expr(Expr.Function, symbol);
  }

  protected expressionOf(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "identifier":
        return this.name(node, at);
      case "selector_expression":
        return facts.exprMember(this.expression(tree.child(node, "operand"), at), this.field(node, "field"));
      case "call_expression":
        return this.call(node, at);
      case "func_literal":
        return this.lambda(node, at);
      case "composite_literal":
        this.literal(tree.child(node, "body"), at);
        return facts.expr(Expr.Typed, this.type(tree.child(node, "type"), at));
      case "literal_value":
        this.literal(node, at);
        return facts.expr(Expr.Unknown);
      case "type_assertion_expression": {
        const value = this.expression(tree.child(node, "operand"), at);
        return facts.expr(Expr.Typed, this.type(tree.child(node, "type"), at), value);
      }
      case "type_conversion_expression": {
        const typeNode = tree.child(node, "type");
        // `f[T](x)` looks the same for a type and a function. Resolution decides by what the name stands for.
        if (tree.kind(typeNode) === "generic_type") return this.instantiatedCall(node, typeNode, at);
        const value = this.expression(tree.child(node, "operand"), at);
        return facts.expr(Expr.Typed, this.type(typeNode, at), value);
      }
      case "index_expression":
        this.expression(tree.child(node, "index"), at);
        return facts.expr(Expr.Index, this.expression(tree.child(node, "operand"), at), -1);
      case "slice_expression":
        for (const part of ["start", "end", "capacity"]) this.expression(tree.child(node, part), at);
        return this.expression(tree.child(node, "operand"), at);
      case "unary_expression": {
        const value = this.expression(tree.child(node, "operand"), at);
        const operator = tree.kind(tree.child(node, "operator"));
        return operator === "<-" ? facts.expr(Expr.Index, value, -1) : value;
      }
      case "parenthesized_expression":
      case "literal_element":
        return this.expression(tree.firstNamed(node), at);
      case "binary_expression": {
        const left = this.expression(tree.child(node, "left"), at);
        this.expression(tree.child(node, "right"), at);
        return left;
      }
      case "interpreted_string_literal":
      case "raw_string_literal":
        return facts.exprLiteral("string");
      case "int_literal":
      case "rune_literal":
        return facts.exprLiteral("int");
      case "float_literal":
        return facts.exprLiteral("float64");
      case "true":
      case "false":
        return facts.exprLiteral("bool");
      case "slice_type":
      case "map_type":
      case "pointer_type":
      case "channel_type":
      case "array_type":
      case "generic_type":
      case "struct_type":
      case "interface_type":
      case "function_type":
      case "qualified_type":
      case "type_identifier":
        return facts.expr(Expr.Typed, this.type(node, at));
      default:
        return this.walkUnknown(node, at);
    }
  }

  private literal(body: TreeNode, at: Place): void {
    const { tree } = this;
    if (isNone(body)) return;
    for (const element of tree.namedChildren(body)) {
      if (tree.kind(element) !== "keyed_element") {
        this.walkValue(this.elementOf(element), at);
        continue;
      }
      const key = tree.firstNamed(tree.child(element, "key"));
      // A plain name before the colon is usually a field, and rarely a map's key.
      if (tree.kind(key) !== "identifier") this.expression(key, at);
      this.walkValue(this.elementOf(tree.child(element, "value")), at);
    }
  }

  /** The value of a literal's element, for which the grammar has a node of its own. */
  private elementOf(node: TreeNode): TreeNode {
    return this.tree.kind(node) === "literal_element" ? this.tree.firstNamed(node) : node;
  }

  private instantiatedCall(node: TreeNode, typeNode: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const type = this.type(typeNode, at);
    const named = tree.child(typeNode, "type");
    const typeArgs = this.typeArguments(tree.child(typeNode, "type_arguments"), at);
    const row = this.callOf(
      this.classExpression(type),
      [tree.child(node, "operand")],
      at,
      tree.endLine(named),
      typeArgs,
    );
    return facts.expr(Expr.Either, facts.list([row, facts.expr(Expr.Typed, type)]));
  }

  private call(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const callee = tree.child(node, "function");
    const argsNode = tree.child(node, "arguments");
    const args = tree.namedChildren(argsNode);
    const plain = tree.kind(callee) === "identifier" ? this.text(callee) : "";
    if ((plain === "make" || plain === "new") && args.length > 0) {
      for (const argument of args.slice(1)) this.expression(argument, at);
      return facts.expr(Expr.Typed, this.type(args[0]!, at));
    }
    const typeArgs = this.typeArguments(tree.child(node, "type_arguments"), at);
    const target =
      plain === "" && tree.kind(callee) === "selector_expression"
        ? facts.expr(
            Expr.Member,
            this.expression(tree.child(callee, "operand"), at),
            facts.name(this.field(callee, "field")),
            1,
          )
        : plain !== ""
          ? facts.exprName(plain, at.scope)
          : this.expression(callee, at);
    const line = tree.line(tree.kind(callee) === "selector_expression" ? tree.child(callee, "field") : callee);
    const row = this.callOf(target, args, at, line, typeArgs);
    if (plain === "append" && args.length > 0)
      return facts.expr(
        Expr.Either,
        facts.list([isNone(facts.exprs.args(row)) ? row : this.firstArgument(args[0]!, at)]),
      );
    return row;
  }

  /** Describes the first argument of `append` again, without recording its calls. */
  private firstArgument(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "identifier":
        return facts.exprName(this.text(node), at.scope);
      case "selector_expression": {
        const object = this.firstArgument(tree.child(node, "operand"), at);
        return isNone(object) ? NONE : facts.exprMember(object, this.field(node, "field"));
      }
      default:
        return facts.expr(Expr.Unknown);
    }
  }

  private typeArguments(node: TreeNode, at: Place): TypeRow[] {
    return this.tree.namedChildren(node).map((child) => this.type(child, at));
  }
}
