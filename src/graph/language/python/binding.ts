/** Binds the names that Python's assignments declare. */
import { type ExprRow, exists, NONE, type ScopeRow, type TreeNode, type TypeRow } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { Expr, ScopeKind } from "../fact-layout.ts";
import { PythonTypes } from "./types.ts";

export abstract class PythonBinding extends PythonTypes {
  /** Scopes of comprehensions. They are blocks, but names are bound in them. */
  protected readonly comprehensions = new Set<number>();
  /** The names that the code of each scope binds. */
  protected readonly bound = new Map<number, Set<string>>();

  /** The scope in which an assignment binds names. Blocks have no names of their own. */
  protected home(scope: ScopeRow): ScopeRow {
    let at = scope;
    while (this.facts.scopes.kind(at) === ScopeKind.Block && !this.comprehensions.has(at))
      at = this.facts.scopes.parent(at);
    return at;
  }

  /** Binds a name. A second binding in the same scope is recorded as an assignment. */
  protected bindName(name: string, at: Place, type: TypeRow, value: ExprRow): void {
    const { facts } = this;
    const scope = this.home(at.scope);
    const names = this.namesOf(scope);
    if (names.has(name)) {
      if (exists(value)) facts.assign(facts.exprName(name, at.scope), value, at.scope);
      return;
    }
    names.add(name);
    facts.local(scope, name, type, value);
  }

  protected namesOf(scope: ScopeRow): Set<string> {
    let names = this.bound.get(scope);
    if (!names) {
      names = new Set();
      this.bound.set(scope, names);
    }
    return names;
  }

  /** Binds the names of a pattern to a value: `a, (b, *c) = value`. */
  protected bindPattern(node: TreeNode, at: Place, value: ExprRow, type: TypeRow = NONE): void {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "identifier":
        this.bindName(this.text(node), at, type, value);
        return;
      case "pattern_list":
      case "tuple_pattern":
      case "list_pattern":
      case "tuple":
      case "list":
      case "expression_list":
        for (const [i, child] of tree.namedChildren(node).entries()) {
          const star = tree.kind(child) === "list_splat_pattern" || tree.kind(child) === "list_splat";
          const part = star ? facts.expr(Expr.Rest, value, i) : facts.expr(Expr.Index, value, facts.name(String(i)));
          this.bindPattern(star ? tree.firstNamed(child) : child, at, part);
        }
        return;
      case "as_pattern_target":
      case "parenthesized_expression":
        this.bindPattern(tree.firstNamed(node), at, value);
        return;
      case "attribute":
        this.assignAttribute(node, at, value, type);
        return;
      default:
        this.expression(node, at);
    }
  }

  /** Handles `object.name = value`. */
  protected abstract assignAttribute(node: TreeNode, at: Place, value: ExprRow, type: TypeRow): void;
}
