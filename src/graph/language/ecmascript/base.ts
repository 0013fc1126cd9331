/** What every part of the walk through a TypeScript or JavaScript file shares. */
import type { SymbolLabel } from "../../model.ts";
import { type ExprRow, isNone, type ScopeRow, type SymbolRow, type TreeNode, type TypeRow } from "../../rows.ts";
import { Expr, SymbolFlag } from "../fact-layout.ts";
import type { FactsBuilder } from "../facts-builder.ts";
import type { FlatTree } from "../flat-tree.ts";
import { oneLine } from "../one-line.ts";
import { type Context, type Expected, expect, type FunctionOptions } from "./context.ts";

/** A decorator whose expression was walked. */
interface Written {
  node: TreeNode;
  /** Row of its expression. */
  row: ExprRow;
}

export abstract class EcmascriptBase {
  /** Function signatures that wait for their implementation, by scope and name. */
  protected readonly overloads = new Map<string, SymbolRow>();
  /** Functions, classes and variables at the top of the file, by name. */
  protected readonly tops = new Map<string, SymbolRow>();
  /** Nodes whose value is awaited although the `await` stands deeper in the tree: see `misplacedPrefix`. */
  protected readonly awaited = new Set<number>();
  /** Decorators that stand before what they decorate, until it is declared. */
  protected decorators: Written[] = [];

  constructor(
    readonly tree: FlatTree,
    readonly facts: FactsBuilder,
  ) {}

  protected abstract expression(node: TreeNode, context: Context): ExprRow;
  /** The same, where something is expected of the expression. */
  protected abstract expected(node: TreeNode, context: Context, expected: Expected | undefined): ExprRow;
  protected abstract statement(node: TreeNode, context: Context): void;
  protected abstract statements(node: TreeNode, context: Context): void;
  /** Declares a function-like node's scope, parameters and body under an existing symbol. */
  protected abstract functionBody(node: TreeNode, symbol: SymbolRow, context: Context, options: FunctionOptions): void;
  /** Declares a class under a name; returns its symbol. */
  protected abstract classLike(node: TreeNode, name: string, context: Context, flags: number): SymbolRow;
  /** Declares a function under a name; returns its symbol. */
  protected abstract functionDeclaration(node: TreeNode, context: Context, name: string, flags: number): SymbolRow;
  /** Declares an interface, alias, enum or namespace. */
  protected abstract typeDeclaration(node: TreeNode, context: Context, flags: number): void;
  protected abstract variableDeclaration(node: TreeNode, context: Context, flags: number): void;

  /** Walks the decorators that are children of a node. */
  protected decoratorsIn(node: TreeNode, context: Context): Written[] {
    const { tree } = this;
    const written: Written[] = [];
    for (const child of tree.namedChildren(node))
      if (tree.kind(child) === "decorator")
        written.push({ node: child, row: this.expression(tree.firstNamed(child), context) });
    return written;
  }

  /** Declares the nodes of a symbol's decorators. */
  protected noteDecorators(owner: SymbolRow, scope: ScopeRow, written: readonly Written[]): void {
    const { tree, facts } = this;
    if (written.length === 0 || isNone(owner) || facts.symbols.flags(owner) & SymbolFlag.Hidden) return;
    for (const { node, row } of written) {
      const inner = tree.firstNamed(node);
      const called = tree.kind(inner) === "call_expression" ? tree.child(inner, "function") : inner;
      facts.decorator(owner, scope, {
        name: oneLine(tree.source(called)),
        startLine: tree.line(node),
        endLine: tree.endLine(node),
        signature: oneLine(tree.source(node)),
        value: row,
      });
    }
  }

  /** Decorators that stood before the declaration that follows them: taken once. */
  protected takeDecorators(): Written[] {
    const { decorators } = this;
    this.decorators = [];
    return decorators;
  }

  /** A declared type as an expectation; undefined where nothing is declared. */
  protected expectType(type: TypeRow): Expected | undefined {
    return isNone(type) ? undefined : expect(() => this.facts.expr(Expr.Typed, type));
  }

  /** How a function is typed where it stands for `expected`. */
  protected functionOf(expected: Expected | undefined): Pick<FunctionOptions, "contextual" | "returning"> {
    if (!expected) return {};
    const { facts } = this;
    return {
      contextual: (parameter) => facts.expr(Expr.Contextual, expected(), -1, parameter),
      returning: expect(() => facts.exprCall(expected(), [])),
    };
  }

  /** A symbol without a name that holds the members of a literal, of values or of a type. */
  protected literalHolder(label: SymbolLabel, node: TreeNode, context: Context): SymbolRow {
    return this.facts.symbol({
      label,
      name: "",
      parent: context.parent,
      scope: context.scope,
      startLine: this.tree.line(node),
      endLine: this.tree.endLine(node),
      flags: SymbolFlag.Hidden,
    });
  }
}
