/** Rust's patterns, and the expressions in the tokens of a macro call. */
import { type ExprRow, exists, isNone, NONE, type TreeNode } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { Expr } from "../fact-layout.ts";
import { RustTypes } from "./types.ts";

export abstract class RustPatterns extends RustTypes {
  /** Binds the names of a pattern to a value, which may be none if it is unknown. */
  protected pattern(node: TreeNode, at: Place, value: ExprRow): void {
    const { tree, facts } = this;
    if (isNone(node)) return;
    switch (tree.kind(node)) {
      case "identifier":
        // A capitalized name is a constant or a variant.
        if (!/^[A-Z]/.test(this.text(node))) this.local(this.text(node), at, NONE, value);
        return;
      case "shorthand_field_identifier":
        this.local(this.text(node), at, NONE, value);
        return;
      case "tuple_pattern":
        for (const [i, child] of this.places(node).entries())
          this.pattern(child, at, isNone(value) ? NONE : facts.expr(Expr.Index, value, facts.name(String(i))));
        return;
      case "slice_pattern":
        for (const child of tree.namedChildren(node))
          this.pattern(child, at, isNone(value) ? NONE : facts.expr(Expr.Index, value, -1));
        return;
      case "tuple_struct_pattern":
        this.tupleStruct(node, at, value);
        return;
      case "struct_pattern": {
        const type = this.type(tree.child(node, "type"), at);
        const whole = facts.expr(Expr.Typed, type);
        for (const field of tree.namedChildren(node)) {
          if (tree.kind(field) !== "field_pattern") continue;
          const nameNode = tree.child(field, "name");
          const inner = tree.child(field, "pattern");
          const part = facts.expr(Expr.Member, whole, facts.name(this.text(nameNode)), 0);
          this.pattern(exists(inner) ? inner : nameNode, at, part);
        }
        return;
      }
      case "captured_pattern": {
        const [name = NONE, inner = NONE] = tree.namedChildren(node);
        this.local(this.text(name), at, NONE, value);
        this.pattern(inner, at, value);
        return;
      }
      case "scoped_identifier":
        this.expression(node, at);
        return;
      default:
        for (const child of tree.namedChildren(node))
          if (/pattern$|^(shorthand_field_)?identifier$|^scoped_identifier$/.test(tree.kind(child)))
            this.pattern(child, at, value);
    }
  }

  /** The parts of a pattern by position. `_` is one of them, though it binds nothing. */
  private places(node: TreeNode): TreeNode[] {
    const { tree } = this;
    const found: TreeNode[] = [];
    for (let child = tree.first(node); child !== NONE; child = tree.next(child))
      if (tree.isNamed(child) || this.text(child) === "_") found.push(child);
    return found;
  }

  private tupleStruct(node: TreeNode, at: Place, value: ExprRow): void {
    const { tree, facts } = this;
    const type = tree.child(node, "type");
    const name = this.text(type);
    const parts = this.places(node).filter((child) => child !== type);
    if (/^(Some|Ok|(Poll::)?Ready)$/.test(name)) {
      for (const part of parts) this.pattern(part, at, value);
      return;
    }
    const path = tree.kind(type) === "scoped_identifier" ? this.expression(type, at) : facts.exprName(name, at.scope);
    for (const [i, part] of parts.entries())
      this.pattern(part, at, name === "Err" ? NONE : facts.expr(Expr.Member, path, facts.name(String(i)), 0));
  }

  /** Finds expressions among the tokens of a macro call: chains of names, members, calls and indexes. */
  protected tokens(tree: TreeNode, around: Place): ExprRow[] {
    const at = this.block(around);
    const rows: ExprRow[] = [];
    const items: TreeNode[] = [];
    for (let child = this.tree.first(tree); child !== NONE; child = this.tree.next(child)) items.push(child);
    for (let i = 0; i < items.length; ) {
      const bound = this.boundName(items, i, at);
      const [row, next] = this.chain(items, bound, at);
      if (bound > i) this.local(this.text(items[i + 1]!), at, NONE, row);
      else if (exists(row)) rows.push(row);
      i = next;
    }
    return rows;
  }

  /**
   * Binds names in `let name = …` and in a closure's `name: Type`. @returns the index of the value of a `let`,
   * otherwise `i`
   */
  private boundName(items: readonly TreeNode[], i: number, at: Place): number {
    const { tree } = this;
    const [item, next = NONE] = [items[i]!, items[i + 1]];
    if (this.text(item) === "let" && tree.kind(next) === "identifier" && this.tokenIs(items, i + 2, "="))
      return i + 3 < items.length ? i + 3 : i;
    if (tree.kind(item) === "identifier" && tree.kind(next) === "identifier" && /^[A-Z]/.test(this.text(next))) {
      const between = tree.text.slice(tree.endIndex(item), tree.startIndex(next));
      if (/^\s*:\s*(&\s*)?$/.test(between))
        this.local(this.text(item), at, this.ref(this.text(next), at, tree.line(next)), NONE);
    }
    return i;
  }

  private chain(items: readonly TreeNode[], start: number, at: Place): [row: ExprRow, next: number] {
    const { tree, facts } = this;
    const first = items[start]!;
    const kind = tree.kind(first);
    if (kind === "token_tree") {
      const inner = this.tokens(first, at);
      return [inner.length === 1 ? inner[0]! : NONE, start + 1];
    }
    if (kind.endsWith("string_literal")) return [facts.exprLiteral("string"), start + 1];
    if (!/^(identifier|primitive_type|self|crate|super)$/.test(kind)) return [NONE, start + 1];
    const text = this.text(first);
    const path = this.tokenIs(items, start + 1, "::");
    const adjacentCall = this.opens(items, start + 1, "(");
    let row =
      text === "Self"
        ? this.classExpression(this.selfType(at))
        : path
          ? facts.exprName(this.root(text, at), at.scope)
          : kind === "self" || adjacentCall
            ? facts.exprName(text, at.scope)
            : this.name(first, at);
    let i = start + 1;
    let called = first;
    for (;;) {
      if (this.opens(items, i, "(")) {
        const args = this.tokens(items[i]!, at);
        const call = facts.expr(Expr.Call, row, facts.list(args));
        if (/^(Some|Ok)$/.test(text) && called === first && args.length === 1) row = args[0]!;
        else {
          facts.call(call, at.symbol, tree.line(called));
          row = call;
        }
        i++;
      } else if (this.opens(items, i, "[")) {
        this.tokens(items[i]!, at);
        row = facts.expr(Expr.Index, row, -1);
        i++;
      } else if (this.tokenIs(items, i, ".") || this.tokenIs(items, i, "::")) {
        called = items[i + 1] ?? NONE;
        if (!/^(identifier|primitive_type|integer_literal|await)$/.test(tree.kind(called))) return [row, i + 1];
        const isCall = this.opens(items, i + 2, "(") || this.tokenIs(items, i, "::");
        row = facts.expr(Expr.Member, row, facts.name(this.text(called)), isCall ? 1 : 0);
        i += 2;
      } else return [row, i];
    }
  }

  private tokenIs(items: readonly TreeNode[], i: number, token: string): boolean {
    const item = items[i];
    return item !== undefined && this.text(item) === token;
  }

  /** Whether the item is a bracketed group directly after the previous item. */
  private opens(items: readonly TreeNode[], i: number, bracket: string): boolean {
    const { tree } = this;
    const item = items[i];
    if (item === undefined || tree.kind(item) !== "token_tree") return false;
    if (tree.text[tree.startIndex(item)] !== bracket) return false;
    return i > 0 && tree.startIndex(item) === tree.endIndex(items[i - 1]!);
  }
}
