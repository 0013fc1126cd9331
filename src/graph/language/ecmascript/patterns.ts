/** Destructuring: each name of a pattern becomes a local whose value is a path into the source. */
import { type ExprRow, exists, isNone, NONE, type ScopeRow, type TreeNode, type TypeRow } from "../../rows.ts";
import { Expr } from "../fact-layout.ts";
import type { Context, Walk } from "./context.ts";
import { memberName } from "./types.ts";

/**
 * Binds the names of a pattern in a scope.
 * @param value expression row the pattern takes apart, or none
 * @param type declared type row of the whole, or none
 * @returns the names bound
 */
export function bindPattern(
  walk: Walk,
  pattern: TreeNode,
  value: ExprRow,
  type: TypeRow,
  context: Context,
  scope: ScopeRow,
): string[] {
  const { tree, facts } = walk;
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
      const fallback = walk.expression(tree.child(pattern, "right"), context);
      const left = tree.child(pattern, "left");
      const named = tree.kind(left) === "shorthand_property_identifier_pattern" && exists(typed);
      const base = named ? facts.exprMember(typed, tree.source(left)) : typed;
      return bindPattern(walk, left, facts.expr(Expr.Either, facts.list([base, fallback])), NONE, context, scope);
    }
    case "object_pattern":
      return tree.namedChildren(pattern).flatMap((entry) => objectEntry(walk, entry, typed, context, scope));
    case "array_pattern":
      return tree.namedChildren(pattern).flatMap((entry, i) => {
        if (tree.kind(entry) === "rest_pattern")
          return bindPattern(walk, tree.firstNamed(entry), facts.expr(Expr.Rest, typed, i), NONE, context, scope);
        return bindPattern(walk, entry, facts.expr(Expr.Index, typed, facts.name(String(i))), NONE, context, scope);
      });
    default:
      return [];
  }
}

function objectEntry(walk: Walk, entry: TreeNode, value: ExprRow, context: Context, scope: ScopeRow): string[] {
  const { tree, facts } = walk;
  const at = (name: string) => (isNone(value) ? facts.expr(Expr.Unknown) : facts.exprMember(value, name));
  switch (tree.kind(entry)) {
    case "shorthand_property_identifier_pattern":
      return bindPattern(walk, entry, at(tree.source(entry)), NONE, context, scope);
    case "object_assignment_pattern":
      return bindPattern(walk, entry, value, NONE, context, scope);
    case "pair_pattern": {
      const key = tree.child(entry, "key");
      const name = memberName(walk, key);
      const inner = name === "" ? facts.expr(Expr.Unknown) : at(name);
      return bindPattern(walk, tree.child(entry, "value"), inner, NONE, context, scope);
    }
    case "rest_pattern":
      return bindPattern(walk, tree.firstNamed(entry), value, NONE, context, scope);
    default:
      return [];
  }
}
