/** What C#'s statements declare: variables, loops, cases, caught exceptions. */
import type { Place } from "../block-walk.ts";
import { Expr } from "../fact-layout.ts";
import { CSharpExpressions } from "./expressions.ts";

export abstract class CSharpLocals extends CSharpExpressions {
  /** Walks named children and keyword expressions; comments apart. */
  protected children(node: number, at: Place): Place {
    let place = at;
    for (const child of this.tree.namedChildren(node)) place = this.statement(child, place);
    return place;
  }

  protected valueNode(declarator: number): number {
    const { tree } = this;
    const equals = tree.childOfKind(declarator, "=");
    return equals < 0 ? -1 : tree.next(equals);
  }

  protected initial(node: number, at: Place, type: number): number {
    if (node < 0) return -1;
    const kind = this.tree.kind(node);
    if (kind === "implicit_object_creation_expression") return this.implicitCreation(node, at, type);
    if (!this.isLambda(kind) || type < 0) return this.expression(node, at);
    const typed = this.facts.expr(Expr.Typed, type);
    return this.lambda(node, at, (parameter) => this.facts.expr(Expr.Contextual, typed, -1, parameter));
  }

  protected localVariables(declaration: number, at: Place): void {
    const { tree, facts } = this;
    if (declaration < 0) return;
    const type = this.type(tree.child(declaration, "type"), at);
    for (const declarator of tree.namedChildren(declaration)) {
      if (tree.kind(declarator) !== "variable_declarator") continue;
      const value = this.initial(this.valueNode(declarator), at, type);
      const pattern = tree.childOfKind(declarator, "tuple_pattern");
      if (pattern < 0) this.local(this.field(declarator, "name"), at, type, value);
      else
        for (const [i, name] of tree.namedChildren(pattern).entries())
          this.local(this.text(name), at, -1, facts.expr(Expr.Index, value, facts.name(String(i))));
    }
  }

  protected forEach(node: number, at: Place): void {
    const { tree, facts } = this;
    const type = this.type(tree.child(node, "type"), at);
    const over = this.expression(tree.child(node, "right"), at);
    const left = tree.child(node, "left");
    if (tree.kind(left) === "identifier") this.local(this.text(left), at, type, facts.expr(Expr.Iterate, over));
    this.statement(tree.child(node, "body"), at);
  }

  protected switchSections(body: number, at: Place): void {
    const { tree } = this;
    if (body < 0) return;
    for (const section of tree.namedChildren(body)) {
      let place = this.block(at);
      for (const child of tree.namedChildren(section)) {
        if (/pattern$/.test(tree.kind(child))) this.pattern(child, place);
        else place = this.statement(child, place);
      }
    }
  }

  protected catchClause(node: number, at: Place): void {
    const { tree } = this;
    const declaration = tree.childOfKind(node, "catch_declaration");
    if (declaration >= 0) {
      const type = this.type(tree.child(declaration, "type"), at);
      const name = tree.child(declaration, "name");
      if (name >= 0) this.local(this.text(name), at, type, -1);
    }
    for (const child of tree.namedChildren(node)) if (child !== declaration) this.statement(child, at);
  }
}
