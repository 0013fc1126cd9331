/** Destructuring: each name of a pattern becomes a local whose value is a path into the source. */
import { Expr } from "../fact-layout.ts";
import type { Context, Walk } from "./context.ts";
import { memberName } from "./types.ts";

/**
 * Binds the names of a pattern in a scope.
 * @param value expression row the pattern takes apart, -1 for none
 * @param type declared type row of the whole, or -1
 * @returns the names bound
 */
export function bindPattern(
  walk: Walk,
  pattern: number,
  value: number,
  type: number,
  context: Context,
  scope: number,
): string[] {
  const { tree, facts } = walk;
  const typed = type >= 0 && tree.kind(pattern) !== "identifier" ? facts.expr(Expr.Typed, type, value) : value;
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
      const named = tree.kind(left) === "shorthand_property_identifier_pattern" && typed >= 0;
      const base = named ? facts.exprMember(typed, tree.source(left)) : typed;
      return bindPattern(walk, left, facts.expr(Expr.Either, facts.list([base, fallback])), -1, context, scope);
    }
    case "object_pattern":
      return tree.namedChildren(pattern).flatMap((entry) => objectEntry(walk, entry, typed, context, scope));
    case "array_pattern":
      return tree.namedChildren(pattern).flatMap((entry, i) => {
        if (tree.kind(entry) === "rest_pattern")
          return bindPattern(walk, tree.firstNamed(entry), facts.expr(Expr.Rest, typed, i), -1, context, scope);
        return bindPattern(walk, entry, facts.expr(Expr.Index, typed, facts.name(String(i))), -1, context, scope);
      });
    default:
      return [];
  }
}

function objectEntry(walk: Walk, entry: number, value: number, context: Context, scope: number): string[] {
  const { tree, facts } = walk;
  const at = (name: string) => (value < 0 ? facts.expr(Expr.Unknown) : facts.exprMember(value, name));
  switch (tree.kind(entry)) {
    case "shorthand_property_identifier_pattern":
      return bindPattern(walk, entry, at(tree.source(entry)), -1, context, scope);
    case "object_assignment_pattern":
      return bindPattern(walk, entry, value, -1, context, scope);
    case "pair_pattern": {
      const key = tree.child(entry, "key");
      const name = memberName(walk, key);
      const inner = name === "" ? facts.expr(Expr.Unknown) : at(name);
      return bindPattern(walk, tree.child(entry, "value"), inner, -1, context, scope);
    }
    case "rest_pattern":
      return bindPattern(walk, tree.firstNamed(entry), value, -1, context, scope);
    default:
      return [];
  }
}
