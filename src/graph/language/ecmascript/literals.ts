/**
 * Expressions of which a type is expected. The expected type is passed down through literals to the functions in them,
 * whose parameters it types: `const c: Config = { hooks: [({ request }) => …] }`.
 */
import { type ExprRow, exists, isNone, NONE, type ScopeRow, type TreeNode } from "../../rows.ts";
import { Expr, HeritageKind, ScopeKind, SymbolFlag } from "../fact-layout.ts";
import { type Context, type Expected, expect, type FunctionOptions, isLambda, signatureOf } from "./context.ts";
import { EcmascriptPatterns } from "./patterns.ts";

export abstract class EcmascriptLiterals extends EcmascriptPatterns {
  /** Walks a value that is kept or passed on. @param expected what the value should be, if that is known */
  walkExpected(node: TreeNode, context: Context, expected: Expected | undefined): ExprRow {
    const { tree, facts } = this;
    if (isNone(node)) return NONE;
    const kind = tree.kind(node);
    if (kind === "member_expression") {
      const row = this.expression(node, context);
      // The member may be a method: `{ enter: this.open }`, `onClick={this.save}`, `return this.stop`.
      if (facts.exprs.op(row) === Expr.Member) facts.useValue(row, context.symbol, tree.line(node));
      return row;
    }
    if (!expected) return this.expression(node, context);
    if (isLambda(kind)) return this.lambda(node, context, this.functionOf(expected));
    switch (kind) {
      case "object":
        return this.objectLiteral(node, context, expected);
      case "array":
        return this.expectedArray(node, context, expected);
      case "parenthesized_expression":
        return this.walkExpected(tree.firstNamed(node), context, expected);
      case "ternary_expression": {
        const condition = tree.child(node, "condition");
        this.expression(condition, context);
        const yes = this.walkExpected(tree.child(node, "consequence"), this.narrow(condition, context), expected);
        const no = this.walkExpected(tree.child(node, "alternative"), context, expected);
        return facts.expr(Expr.Either, facts.list([yes, no]));
      }
      default:
        return this.expression(node, context);
    }
  }

  private expectedArray(node: TreeNode, context: Context, expected: Expected): ExprRow {
    const { tree, facts } = this;
    const element = expect(() => facts.expr(Expr.Iterate, expected()));
    const items = tree.namedChildren(node).map((child) => this.walkExpected(child, context, element));
    return facts.expr(Expr.Array, facts.list(items));
  }

  /** An anonymous function as a value: a hidden symbol. Calls inside of it belong to the symbol around it. */
  protected lambda(
    node: TreeNode,
    context: Context,
    typed: Pick<FunctionOptions, "toContextual" | "returning">,
  ): ExprRow {
    const { tree, facts } = this;
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
    this.functionBody(node, symbol, context, { arrow, thisScope: NONE, ...typed });
    if (exists(nameNode)) facts.bind(symbol, facts.symbols.inner(symbol));
    return facts.expr(Expr.Function, symbol);
  }

  /** An object literal: a hidden symbol with its members as children. Functions in it are methods. */
  protected objectLiteral(node: TreeNode, context: Context, expected?: Expected): ExprRow {
    const { tree, facts } = this;
    const symbol = this.literalHolder("Variable", node, context);
    const scope = facts.scope(context.scope, ScopeKind.Class, symbol);
    const inside = { ...context, parent: symbol };
    for (const entry of tree.namedChildren(node)) {
      const kind = tree.kind(entry);
      if (kind === "spread_element") {
        const spread = this.expression(tree.firstNamed(entry), context);
        facts.heritage(symbol, HeritageKind.Mixin, NONE, tree.line(entry), spread);
      } else if (kind === "shorthand_property_identifier") {
        this.objectMember(entry, tree.source(entry), this.expression(entry, context), inside);
      } else if (kind === "pair") {
        this.objectPair(entry, inside, scope, expected);
      } else if (kind === "method_definition") {
        this.objectMethod(entry, tree.child(entry, "name"), entry, inside, scope, expected);
      }
    }
    return facts.expr(Expr.Object, symbol);
  }

  private objectMember(entry: TreeNode, name: string, value: ExprRow, context: Context): void {
    const { tree, facts } = this;
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

  /** The expectation for a member, derived from the expectation for the whole object. */
  private expectMember(name: string, expected: Expected | undefined): Expected | undefined {
    return expected && name !== "" ? expect(() => this.facts.exprMember(expected(), name)) : undefined;
  }

  private objectPair(entry: TreeNode, context: Context, scope: ScopeRow, expected: Expected | undefined): void {
    const { tree } = this;
    const key = tree.child(entry, "key");
    const value = tree.child(entry, "value");
    if (tree.kind(key) === "computed_property_name") this.expression(tree.firstNamed(key), context);
    if (isLambda(tree.kind(value))) {
      this.objectMethod(entry, key, value, context, scope, expected);
      return;
    }
    const name = this.memberName(key);
    this.objectMember(entry, name, this.walkExpected(value, context, this.expectMember(name, expected)), context);
  }

  private objectMethod(
    entry: TreeNode,
    key: TreeNode,
    node: TreeNode,
    context: Context,
    scope: ScopeRow,
    expected: Expected | undefined,
  ): void {
    const { tree, facts } = this;
    const name = this.memberName(key);
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
    const typed = this.functionOf(this.expectMember(name, expected));
    this.functionBody(node, symbol, inside, { arrow, thisScope: arrow ? context.thisScope : scope, ...typed });
  }

  /** Walks JSX. A component in a tag counts as used, not called, because the framework calls it. */
  protected jsx(node: TreeNode, context: Context): void {
    const { tree, facts } = this;
    let component: ExprRow = NONE;
    for (const child of tree.namedChildren(node)) {
      const kind = tree.kind(child);
      if (kind === "jsx_opening_element") this.jsx(child, context);
      else if (kind === "identifier") {
        if (/^[A-Z]/.test(tree.source(child))) component = this.expression(child, context);
      } else if (kind === "member_expression") component = this.expression(child, context);
      else if (kind === "jsx_attribute") {
        const of = component;
        const name = tree.source(tree.firstNamed(child));
        // An attribute is a member of the component's first parameter.
        const expected = isNone(of)
          ? undefined
          : expect(() => facts.exprMember(facts.expr(Expr.Contextual, of, -1, 0), name));
        for (const part of tree.namedChildren(child))
          if (/^jsx_(expression|element|self|frag)/.test(tree.kind(part))) this.jsxValue(part, context, expected);
      } else if (
        kind === "jsx_expression" ||
        kind.startsWith("jsx_element") ||
        kind === "jsx_self_closing_element" ||
        kind === "jsx_fragment"
      ) {
        this.jsxValue(child, context, undefined);
      }
    }
  }

  private jsxValue(node: TreeNode, context: Context, expected: Expected | undefined): void {
    const { tree } = this;
    if (tree.kind(node) === "jsx_expression") {
      for (const child of tree.namedChildren(node)) {
        this.walkExpected(tree.kind(child) === "spread_element" ? tree.firstNamed(child) : child, context, expected);
      }
    } else this.jsx(node, context);
  }
}
