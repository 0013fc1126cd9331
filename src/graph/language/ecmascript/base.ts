/** Shared by all parts of the walk through a TypeScript or JavaScript file. */
import type { SymbolLabel } from "../../model.ts";
import { type ExprRow, isNone, type ScopeRow, type SymbolRow, type TreeNode, type TypeRow } from "../../rows.ts";
import { Expr, SymbolFlag } from "../fact-layout.ts";
import type { FactsBuilder } from "../facts-builder.ts";
import type { FlatTree } from "../flat-tree.ts";
import { oneLine } from "../one-line.ts";
import { type Context, type Expected, expect, type FunctionOptions } from "./context.ts";

/** A decorator whose expression was already walked. */
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
  /** Nodes whose value is awaited, although the parser put the `await` deeper in the tree. See `misplacedPrefix`. */
  protected readonly awaited = new Set<number>();
  /** Decorators that were walked before the declaration which they decorate. */
  protected decorators: Written[] = [];

  constructor(
    readonly tree: FlatTree,
    readonly facts: FactsBuilder,
  ) {}

  protected abstract expression(node: TreeNode, context: Context): ExprRow;
  /** Like `expression`, with the type that is expected of the expression. */
  protected abstract walkExpected(node: TreeNode, context: Context, expected: Expected | undefined): ExprRow;
  protected abstract statement(node: TreeNode, context: Context): void;
  protected abstract statements(node: TreeNode, context: Context): void;
  /** Walks the parameters and body of a function whose symbol exists. */
  protected abstract functionBody(node: TreeNode, symbol: SymbolRow, context: Context, options: FunctionOptions): void;
  /** Declares a class under a name. @returns its symbol */
  protected abstract classLike(node: TreeNode, name: string, context: Context, flags: number): SymbolRow;
  /** Declares a function under a name. @returns its symbol */
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

  /** Declares Decorator nodes for a symbol. */
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

  /** Takes the decorators that stood before a declaration. A second call returns none. */
  protected takeDecorators(): Written[] {
    const { decorators } = this;
    this.decorators = [];
    return decorators;
  }

  /** A declared type as an expectation; undefined if no type is declared. */
  protected expectType(type: TypeRow): Expected | undefined {
    return isNone(type) ? undefined : expect(() => this.facts.expr(Expr.Typed, type));
  }

  /** Options that type a function by what is expected where it stands. */
  protected functionOf(expected: Expected | undefined): Pick<FunctionOptions, "toContextual" | "returning"> {
    if (!expected) return {};
    const { facts } = this;
    return {
      toContextual: (parameter) => facts.expr(Expr.Contextual, expected(), -1, parameter),
      returning: expect(() => facts.exprCall(expected(), [])),
    };
  }

  /** A hidden symbol for the members of an object literal or type literal. */
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
