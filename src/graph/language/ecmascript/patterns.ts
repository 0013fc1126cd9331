/** Destructuring. Each name in a pattern becomes a local variable whose value is a path into the source value. */
import { type ExprRow, exists, isNone, NONE, type ScopeRow, type TreeNode, type TypeRow } from "../../rows.ts";
import { Expr, ScopeKind } from "../fact-layout.ts";
import type { Context } from "./context.ts";
import { EcmascriptTypes } from "./types.ts";

export abstract class EcmascriptPatterns extends EcmascriptTypes {
  /**
   * Binds the names of a pattern in a scope.
   * @param value expression row of the value that the pattern takes apart, or none
   * @param type declared type row of the whole value, or none
   * @returns the bound names
   */
  protected bindPattern(pattern: TreeNode, value: ExprRow, type: TypeRow, context: Context, scope: ScopeRow): string[] {
    const { tree, facts } = this;
    const typed = exists(type) && tree.kind(pattern) !== "identifier" ? facts.expr(Expr.Typed, type, value) : value;
    switch (tree.kind(pattern)) {
      case "identifier":
      case "shorthand_property_identifier_pattern": {
        const name = tree.source(pattern);
        facts.local(scope, name, type, value);
        return [name];
      }
      case "assignment_pattern":
      case "object_assignment_pattern": {
        const fallback = this.expression(tree.child(pattern, "right"), context);
        const left = tree.child(pattern, "left");
        const named = tree.kind(left) === "shorthand_property_identifier_pattern" && exists(typed);
        const base = named ? facts.exprMember(typed, tree.source(left)) : typed;
        return this.bindPattern(left, facts.expr(Expr.Either, facts.list([base, fallback])), NONE, context, scope);
      }
      case "object_pattern":
        return tree.namedChildren(pattern).flatMap((entry) => this.objectEntry(entry, typed, context, scope));
      case "array_pattern":
        return tree.namedChildren(pattern).flatMap((entry, i) => {
          if (tree.kind(entry) === "rest_pattern")
            return this.bindPattern(tree.firstNamed(entry), facts.expr(Expr.Rest, typed, i), NONE, context, scope);
          return this.bindPattern(entry, facts.expr(Expr.Index, typed, facts.name(String(i))), NONE, context, scope);
        });
      default:
        return [];
    }
  }

  private objectEntry(entry: TreeNode, value: ExprRow, context: Context, scope: ScopeRow): string[] {
    const { tree, facts } = this;
    const readMember = (name: string) => (isNone(value) ? facts.expr(Expr.Unknown) : facts.exprMember(value, name));
    switch (tree.kind(entry)) {
      case "shorthand_property_identifier_pattern":
        return this.bindPattern(entry, readMember(tree.source(entry)), NONE, context, scope);
      case "object_assignment_pattern":
        return this.bindPattern(entry, value, NONE, context, scope);
      case "pair_pattern": {
        const key = tree.child(entry, "key");
        const name = this.memberName(key);
        const inner = name === "" ? facts.expr(Expr.Unknown) : readMember(name);
        return this.bindPattern(tree.child(entry, "value"), inner, NONE, context, scope);
      }
      case "rest_pattern":
        return this.bindPattern(tree.firstNamed(entry), value, NONE, context, scope);
      default:
        return [];
    }
  }

  /**
   * A context with the narrowings that a condition implies: `x instanceof C` and `isC(x)`, also joined by `&&`. Without
   * any of these, the given context is returned.
   */
  protected narrow(condition: TreeNode, context: Context): Context {
    const { tree, facts } = this;
    const tests: TreeNode[] = [];
    this.collectTests(condition, tests);
    if (tests.length === 0) return context;
    const scope = facts.scope(context.scope, ScopeKind.Block);
    for (const test of tests) {
      // The condition itself was already walked. Its parts are described again, without recording calls or uses.
      if (tree.kind(test) === "binary_expression") {
        const right = tree.child(test, "right");
        facts.narrow(scope, tree.source(tree.child(test, "left")), NONE, this.readPath(right, context));
      } else {
        const args = tree.child(test, "arguments");
        const callee = this.readPath(tree.child(test, "function"), context);
        if (exists(callee)) facts.narrow(scope, tree.source(tree.firstNamed(args)), NONE, facts.exprCall(callee, []));
      }
    }
    return { ...context, scope };
  }

  private collectTests(node: TreeNode, tests: TreeNode[]): void {
    const { tree } = this;
    const kind = tree.kind(node);
    if (kind === "parenthesized_expression") this.collectTests(tree.firstNamed(node), tests);
    else if (kind === "binary_expression") {
      const operator = tree.kind(tree.child(node, "operator"));
      if (operator === "&&") {
        this.collectTests(tree.child(node, "left"), tests);
        this.collectTests(tree.child(node, "right"), tests);
      } else if (operator === "instanceof") tests.push(node);
    } else if (kind === "call_expression") {
      const args = tree.child(node, "arguments");
      const first = isNone(args) ? NONE : tree.firstNamed(args);
      if (exists(first) && /^(identifier|member_expression|this)$/.test(tree.kind(first))) tests.push(node);
    }
  }

  /** A name or path of members as an expression row, without recording uses. None for any other expression. */
  private readPath(node: TreeNode, context: Context): ExprRow {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "identifier":
        return facts.exprName(tree.source(node), context.scope);
      case "this":
        return facts.expr(Expr.This, context.thisScope);
      case "member_expression": {
        const object = this.readPath(tree.child(node, "object"), context);
        return isNone(object) ? NONE : facts.exprMember(object, tree.source(tree.child(node, "property")));
      }
      default:
        return NONE;
    }
  }
}
