/** Declarations in C#'s statements: variables, loops, cases, caught exceptions. */
import { type ExprRow, exists, isNone, NONE, type TreeNode, type TypeRow } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { Expr } from "../fact-layout.ts";
import { CSharpExpressions } from "./expressions.ts";

export abstract class CSharpLocals extends CSharpExpressions {
  /** Walks the named children as statements, one after the other. @returns the place after them */
  protected children(node: TreeNode, at: Place): Place {
    let place = at;
    for (const child of this.tree.namedChildren(node)) place = this.statement(child, place);
    return place;
  }

  protected valueNode(declarator: TreeNode): TreeNode {
    const { tree } = this;
    const equals = tree.childOfKind(declarator, "=");
    return isNone(equals) ? NONE : tree.next(equals);
  }

  protected initial(node: TreeNode, at: Place, type: TypeRow): ExprRow {
    if (isNone(node)) return NONE;
    const kind = this.tree.kind(node);
    if (kind === "implicit_object_creation_expression") return this.implicitCreation(node, at, type);
    if (!this.isLambda(kind) || isNone(type)) return this.walkValue(node, at);
    const typed = this.facts.expr(Expr.Typed, type);
    return this.lambda(node, at, (parameter) => this.facts.expr(Expr.Contextual, typed, -1, parameter));
  }

  protected localVariables(declaration: TreeNode, at: Place): void {
    const { tree, facts } = this;
    if (isNone(declaration)) return;
    const type = this.type(tree.child(declaration, "type"), at);
    for (const declarator of tree.namedChildren(declaration)) {
      if (tree.kind(declarator) !== "variable_declarator") continue;
      const value = this.initial(this.valueNode(declarator), at, type);
      const pattern = tree.childOfKind(declarator, "tuple_pattern");
      if (isNone(pattern)) this.local(this.field(declarator, "name"), at, type, value);
      else
        for (const [i, name] of tree.namedChildren(pattern).entries())
          this.local(this.text(name), at, NONE, facts.expr(Expr.Index, value, facts.name(String(i))));
    }
  }

  protected forEach(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const type = this.type(tree.child(node, "type"), at);
    const over = this.expression(tree.child(node, "right"), at);
    const left = tree.child(node, "left");
    if (tree.kind(left) === "identifier") this.local(this.text(left), at, type, facts.expr(Expr.Iterate, over));
    this.statement(tree.child(node, "body"), at);
  }

  protected switchSections(body: TreeNode, at: Place): void {
    const { tree } = this;
    if (isNone(body)) return;
    for (const section of tree.namedChildren(body)) {
      let place = this.block(at);
      for (const child of tree.namedChildren(section)) {
        if (/pattern$/.test(tree.kind(child))) this.pattern(child, place);
        else place = this.statement(child, place);
      }
    }
  }

  protected catchClause(node: TreeNode, at: Place): void {
    const { tree } = this;
    const declaration = tree.childOfKind(node, "catch_declaration");
    if (exists(declaration)) {
      const type = this.type(tree.child(declaration, "type"), at);
      const name = tree.child(declaration, "name");
      if (exists(name)) this.local(this.text(name), at, type, NONE);
    }
    for (const child of tree.namedChildren(node)) if (child !== declaration) this.statement(child, at);
  }
}
