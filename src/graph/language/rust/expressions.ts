/** Rust's expressions. */
import { type BindingRow, type ExprRow, exists, isNone, NONE, type TreeNode, type TypeRow } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { CallFlag, Expr, Type } from "../fact-layout.ts";
import { RustPatterns } from "./patterns.ts";

export abstract class RustExpressions extends RustPatterns {
  protected isLambda(kind: string): boolean {
    return kind === "closure_expression";
  }

  protected lambda(node: TreeNode, at: Place, contextual?: (parameter: number) => ExprRow): ExprRow {
    const { tree, facts } = this;
    const symbol = this.hiddenFunction(node, at);
    const inside = this.open(symbol, at);
    const list = tree.child(node, "parameters");
    const rows: BindingRow[] = [];
    for (const [i, parameter] of tree.namedChildren(list).entries()) {
      const typed = tree.kind(parameter) === "parameter";
      const type = typed ? this.type(tree.child(parameter, "type"), inside) : NONE;
      const value = isNone(type) ? (contextual?.(i) ?? NONE) : facts.expr(Expr.Typed, type);
      rows.push(facts.local(inside.scope, "", type, value, 3));
      this.pattern(typed ? tree.child(parameter, "pattern") : parameter, inside, value);
    }
    facts.setSymbol(symbol, "parameters", facts.list(rows));
    const result = tree.child(node, "return_type");
    if (exists(result)) facts.setSymbol(symbol, "type", this.type(result, inside));
    inside.returns?.push(this.expression(tree.child(node, "body"), inside));
    this.close(symbol, inside);
    return facts.expr(Expr.Function, symbol);
  }

  protected expressionOf(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const kind = tree.kind(node);
    switch (kind) {
      case "identifier":
        return this.text(node) === "Self" ? this.classExpression(this.selfType(at)) : this.name(node, at);
      case "self":
        return facts.exprName("self", at.scope);
      case "scoped_identifier":
      case "generic_function":
        return this.path(node, at);
      case "field_expression":
        return facts.expr(
          Expr.Member,
          this.expression(tree.child(node, "value"), at),
          facts.name(this.field(node, "field")),
          0,
        );
      case "call_expression":
        return this.call(node, at);
      case "macro_invocation":
        return this.macro(node, at);
      case "closure_expression":
        return this.lambda(node, at);
      case "struct_expression":
        return this.structExpression(node, at);
      case "reference_expression":
      case "try_expression":
      case "parenthesized_expression":
        return this.expression(tree.namedChildren(node).at(-1) ?? NONE, at);
      case "await_expression":
        return facts.expr(Expr.Await, this.expression(tree.firstNamed(node), at));
      case "unary_expression":
        return this.expression(tree.namedChildren(node).at(-1) ?? NONE, at);
      case "type_cast_expression":
        this.expression(tree.child(node, "value"), at);
        return facts.expr(Expr.Typed, this.type(tree.child(node, "type"), at));
      case "index_expression": {
        const [object = NONE, index = NONE] = tree.namedChildren(node);
        const row = this.expression(object, at);
        this.expression(index, at);
        return tree.kind(index) === "range_expression" ? row : facts.expr(Expr.Index, row, -1);
      }
      case "tuple_expression":
        return facts.expr(Expr.Array, facts.list(tree.namedChildren(node).map((child) => this.expression(child, at))));
      case "array_expression": {
        const items = tree.namedChildren(node).map((child) => this.expression(child, at));
        return facts.expr(Expr.Rest, facts.expr(Expr.Array, facts.list(items)), 0);
      }
      case "assignment_expression": {
        const target = this.expression(tree.child(node, "left"), at);
        const value = this.walkValue(tree.child(node, "right"), at);
        facts.assign(target, value, at.scope);
        return facts.exprLiteral("void");
      }
      case "return_expression": {
        const value = this.expression(tree.firstNamed(node), at);
        if (exists(value)) at.returns?.push(value);
        return facts.exprLiteral("never");
      }
      default:
        return this.control(node, kind, at);
    }
  }

  private control(node: TreeNode, kind: string, at: Place): ExprRow {
    const { tree, facts } = this;
    switch (kind) {
      case "block":
        return this.blockValue(node, at);
      case "unsafe_block":
      case "async_block":
      case "const_block":
      case "try_block":
        return this.blockValue(tree.childOfKind(node, "block"), at);
      case "if_expression": {
        const inside = this.block(at);
        this.condition(tree.child(node, "condition"), inside);
        const yes = this.expression(tree.child(node, "consequence"), inside);
        const clause = tree.child(node, "alternative");
        const no = isNone(clause) ? NONE : this.expression(tree.firstNamed(clause), at);
        return facts.expr(Expr.Either, facts.list([yes, no].filter((row) => exists(row))));
      }
      case "match_expression":
        return this.matchExpression(node, at);
      case "while_expression": {
        const inside = this.block(at);
        this.condition(tree.child(node, "condition"), inside);
        this.expression(tree.child(node, "body"), inside);
        return facts.exprLiteral("void");
      }
      case "for_expression": {
        const over = this.expression(tree.child(node, "value"), at);
        const inside = this.block(at);
        this.pattern(tree.child(node, "pattern"), inside, facts.expr(Expr.Iterate, over));
        this.expression(tree.child(node, "body"), inside);
        return facts.exprLiteral("void");
      }
      case "let_condition":
      case "let_chain":
        this.condition(node, at);
        return facts.exprLiteral("bool");
      case "binary_expression": {
        const left = this.expression(tree.child(node, "left"), at);
        this.expression(tree.child(node, "right"), at);
        return facts.exprs.op(left) === Expr.Literal ? left : facts.expr(Expr.Unknown);
      }
      case "string_literal":
      case "raw_string_literal":
        return facts.exprLiteral("string");
      case "integer_literal":
        return facts.exprLiteral("int");
      case "boolean_literal":
        return facts.exprLiteral("bool");
      default:
        if (/_(item|declaration|statement)$/.test(kind)) {
          this.statement(node, at);
          return facts.exprLiteral("void");
        }
        return this.walkUnknown(node, at);
    }
  }

  /** Walks a condition. Names that its `let` binds are bound in the place. */
  private condition(node: TreeNode, at: Place): void {
    const { tree } = this;
    const kind = tree.kind(node);
    if (kind === "let_condition") {
      const value = this.expression(tree.child(node, "value"), at);
      this.pattern(tree.child(node, "pattern"), at, value);
    } else if (kind === "let_chain") for (const child of tree.namedChildren(node)) this.condition(child, at);
    else this.expression(node, at);
  }

  /** Walks the statements of a block. @returns its value, that of its last expression */
  protected blockValue(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    if (isNone(node)) return NONE;
    let place = this.block(at);
    let value = facts.exprLiteral("void");
    for (const child of tree.namedChildren(node)) {
      if (/(_item|_declaration|_statement|^label|^macro_definition)$/.test(tree.kind(child))) {
        const inner = tree.kind(child) === "expression_statement" ? tree.firstNamed(child) : NONE;
        const ends = tree.endIndex(child) === tree.endIndex(isNone(inner) ? child : inner);
        // An `if` or `match` at the end of a block, without a semicolon, is the block's value.
        if (exists(inner) && ends) value = this.expression(inner, place);
        else {
          place = this.statement(child, place);
          value = facts.exprLiteral("void");
        }
      } else value = this.expression(child, place);
    }
    return value;
  }

  private matchExpression(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const subject = this.expression(tree.child(node, "value"), at);
    const body = tree.child(node, "body");
    const rows: ExprRow[] = [];
    for (const arm of tree.namedChildren(body)) {
      const inside = this.block(at);
      const pattern = tree.child(arm, "pattern");
      const condition = tree.child(pattern, "condition");
      for (const part of tree.namedChildren(pattern)) if (part !== condition) this.pattern(part, inside, subject);
      if (exists(condition)) this.condition(condition, inside);
      rows.push(this.expression(tree.child(arm, "value"), inside));
    }
    return facts.expr(Expr.Either, facts.list(rows.filter((row) => exists(row))));
  }

  /** Walks a path: `a::b::c`, `T::<X>::f`, `<T as Trait>::f`. */
  protected path(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    if (tree.kind(node) === "generic_function") {
      this.typeArguments(tree.child(node, "type_arguments"), at);
      return this.expression(tree.child(node, "function"), at);
    }
    const left = tree.child(node, "path");
    const name = this.field(node, "name");
    if (isNone(left)) return facts.exprName(this.root(name, at), at.scope);
    return facts.expr(Expr.Member, this.pathRow(left, at), facts.name(name), 1);
  }

  private pathRow(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const kind = tree.kind(node);
    if (kind === "scoped_identifier" || kind === "scoped_type_identifier") {
      const left = tree.child(node, "path");
      const name = this.field(node, "name");
      return isNone(left)
        ? facts.exprName(this.root(name, at), at.scope)
        : facts.exprMember(this.pathRow(left, at), name);
    }
    const text = this.text(node);
    if (text === "Self") return this.classExpression(this.selfType(at));
    if (kind === "identifier" && this.isTypeParameter(text, at))
      return facts.expr(Expr.Typed, facts.typeRef(text, at.scope));
    if (kind === "crate" || kind === "super" || kind === "self" || kind === "identifier") {
      const row = facts.exprName(this.root(text, at), at.scope);
      if (kind === "identifier" && /^[A-Z]/.test(text)) facts.useValue(row, at.symbol, tree.line(node));
      return row;
    }
    return this.classExpression(this.type(node, at));
  }

  private call(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    let calleeNode = tree.child(node, "function");
    let typeArgs: TypeRow[] = [];
    if (tree.kind(calleeNode) === "generic_function") {
      typeArgs = this.typeArguments(tree.child(calleeNode, "type_arguments"), at);
      calleeNode = tree.child(calleeNode, "function");
    }
    const list = tree.child(node, "arguments");
    const args = tree.namedChildren(list).filter((child) => tree.kind(child) !== "attribute_item");
    const kind = tree.kind(calleeNode);
    const name = kind === "identifier" ? this.text(calleeNode) : "";
    // Wrappers are transparent, and so are calls that make them.
    const bare = kind === "scoped_identifier" ? this.text(calleeNode) : name;
    if (/^(Some|Ok|(Box|Rc|Arc|RefCell|Cell|Mutex|RwLock|Cow|Pin)::(new|from|clone|pin|Owned|Borrowed))$/.test(bare))
      return this.expression(args[0] ?? NONE, at);
    if (name === "Err") {
      this.expression(args[0] ?? NONE, at);
      return facts.exprLiteral("never");
    }
    let callee: ExprRow;
    let nameNode = calleeNode;
    if (kind === "field_expression") {
      nameNode = tree.child(calleeNode, "field");
      callee = this.calledMember(this.expression(tree.child(calleeNode, "value"), at), this.text(nameNode));
    } else if (name !== "" && name !== "Self") callee = facts.exprName(name, at.scope);
    else callee = this.expression(calleeNode, at);
    if (kind === "scoped_identifier") nameNode = tree.child(calleeNode, "name");
    return this.callOf(callee, args, at, tree.line(nameNode), typeArgs);
  }

  private structExpression(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const type = this.type(tree.child(node, "name"), at);
    const body = tree.child(node, "body");
    for (const child of tree.namedChildren(body)) {
      const value = tree.child(child, "value");
      if (tree.kind(child) === "shorthand_field_initializer") this.expression(tree.firstNamed(child), at);
      else this.walkValue(exists(value) ? value : tree.firstNamed(child), at);
    }
    // `Enum::Variant { … }` makes a value of the enum.
    const path = tree.child(node, "name");
    if (tree.kind(path) === "scoped_type_identifier" && facts.types.op(type) === Type.Qualified)
      return facts.expr(Expr.New, this.classExpression(type));
    return facts.expr(Expr.Typed, type);
  }

  private macro(node: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const nameNode = tree.child(node, "macro");
    const name = this.text(nameNode).split("::").pop()!;
    const callee = facts.expr(Expr.Name, facts.name(`${name}!`), at.scope);
    const row = facts.expr(Expr.Call, callee);
    facts.call(row, at.symbol, tree.line(nameNode), CallFlag.Macro);
    const tokens = tree.childOfKind(node, "token_tree");
    const values = isNone(tokens) ? [] : this.tokens(tokens, at);
    if (name === "vec") return facts.expr(Expr.Rest, facts.expr(Expr.Array, facts.list(values)), 0);
    return /^(format|concat|stringify)$/.test(name) ? facts.exprLiteral("string") : row;
  }
}
