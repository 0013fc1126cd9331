/**
 * Methods that are assigned to a function, class or object, and prototypes that are assigned to a constructor function.
 */
import { type ExprRow, exists, isNone, NONE, type ScopeRow, type SymbolRow, type TreeNode } from "../../rows.ts";
import { Expr, HeritageKind, SymbolFlag } from "../fact-layout.ts";
import { type Context, docBefore, isLambda, signatureOf } from "./context.ts";
import { EcmascriptModules } from "./modules.ts";

export abstract class EcmascriptAssignments extends EcmascriptModules {
  /**
   * Handles `F.prototype.m = function () {}`, `F.m = function () {}` and, in JavaScript, `this.m = function () {}`: the
   * function becomes a method. `F.prototype = Object.create(G.prototype)` is recorded as inheritance.
   * @returns the value's row; undefined for any other assignment
   */
  protected memberAssignment(left: TreeNode, right: TreeNode, context: Context): ExprRow | undefined {
    const { tree, facts } = this;
    if (tree.kind(left) !== "member_expression") return undefined;
    const object = tree.child(left, "object");
    const name = tree.source(tree.child(left, "property"));
    if (name === "prototype") {
      const owner = this.topNamed(object);
      const parent = isNone(owner) ? NONE : this.createdFrom(right);
      if (exists(parent)) this.inherit(owner, parent, context);
      return undefined;
    }
    if (!isLambda(tree.kind(right))) return undefined;
    const ofPrototype =
      tree.kind(object) === "member_expression" && tree.source(tree.child(object, "property")) === "prototype";
    const owner = ofPrototype
      ? this.topNamed(tree.child(object, "object"))
      : tree.kind(object) === "this"
        ? this.constructedHere(context)
        : this.topNamed(object);
    if (isNone(owner)) return undefined;
    const ofInstance = ofPrototype || tree.kind(object) === "this";
    const symbol = facts.symbol({
      label: "Method",
      name,
      parent: owner,
      scope: context.scope,
      startLine: tree.line(left),
      endLine: tree.endLine(right),
      flags: ofInstance ? 0 : SymbolFlag.Static,
      signature: signatureOf(tree, tree.parent(left), tree.child(right, "body")),
      doc: docBefore(tree, tree.parent(tree.parent(left))),
    });
    const arrow = tree.kind(right) === "arrow_function";
    const thisScope = ofInstance ? facts.symbols.inner(owner) : this.scopeOf(owner);
    this.functionBody(right, symbol, { ...context, symbol }, { arrow, thisScope });
    return facts.expr(Expr.Function, symbol);
  }

  /** The top-level symbol that an identifier names, or none. */
  private topNamed(node: TreeNode): SymbolRow {
    return this.tree.kind(node) === "identifier" ? (this.tops.get(this.tree.source(node)) ?? NONE) : NONE;
  }

  /** The class or constructor function whose instance `this` is, if its members need not be declared (JavaScript). */
  private constructedHere(context: Context): SymbolRow {
    const { facts } = this;
    return facts.language === "javascript" && exists(context.thisScope) ? facts.scopes.symbol(context.thisScope) : NONE;
  }

  /**
   * The scope of `this` in a method that is assigned to an object: that of the object literal. None for a class or
   * function, since `this` is not an instance there.
   */
  private scopeOf(owner: SymbolRow): ScopeRow {
    const { facts } = this;
    let value = facts.symbols.value(owner);
    while (facts.exprs.op(value) === Expr.Assign) value = facts.exprs.value(value);
    if (facts.exprs.op(value) !== Expr.Object) return NONE;
    return facts.symbols.inner(facts.exprs.symbol(value));
  }

  /** The name G in `Object.create(G.prototype)` or `new G()`; none for anything else. */
  private createdFrom(node: TreeNode): TreeNode {
    const { tree } = this;
    if (tree.kind(node) === "new_expression") {
      const made = tree.child(node, "constructor");
      return tree.kind(made) === "identifier" ? made : NONE;
    }
    if (tree.kind(node) !== "call_expression" || tree.source(tree.child(node, "function")) !== "Object.create")
      return NONE;
    return this.prototypeOf(tree.firstNamed(tree.child(node, "arguments")));
  }

  /** The name G in `G.prototype`, or none. */
  private prototypeOf(node: TreeNode): TreeNode {
    const { tree } = this;
    if (isNone(node) || tree.kind(node) !== "member_expression") return NONE;
    const object = tree.child(node, "object");
    return tree.source(tree.child(node, "property")) === "prototype" && tree.kind(object) === "identifier"
      ? object
      : NONE;
  }

  /**
   * Records that F extends G for `inherits(F, G)`, `util.inherits(F, G)` and `Object.setPrototypeOf(F.prototype,
   * G.prototype)`.
   */
  protected inheritanceCall(callee: TreeNode, args: TreeNode, context: Context): void {
    const { tree } = this;
    if (this.tops.size === 0 || isNone(args)) return;
    const name = tree.source(tree.kind(callee) === "member_expression" ? tree.child(callee, "property") : callee);
    if (name !== "inherits" && name !== "setPrototypeOf") return;
    const [first = NONE, second = NONE] = tree.namedChildren(args);
    const child = name === "inherits" ? first : this.prototypeOf(first);
    const parent = name === "inherits" ? second : this.prototypeOf(second);
    const owner = isNone(child) ? NONE : this.topNamed(child);
    if (exists(owner) && exists(parent) && tree.kind(parent) === "identifier") this.inherit(owner, parent, context);
  }

  private inherit(owner: SymbolRow, parent: TreeNode, context: Context): void {
    const { tree, facts } = this;
    const base = facts.exprName(tree.source(parent), context.scope);
    facts.heritage(owner, HeritageKind.Extends, NONE, tree.line(parent), base);
  }
}
