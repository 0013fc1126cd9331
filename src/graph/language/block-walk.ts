/**
 * Shared by the walks of the block languages (Go, Rust, Java, C, C++, C#, PHP): the current place, and how symbols,
 * functions, calls and lambdas become facts. Each language extends this class with its own kinds of nodes. Depth is
 * bounded: source that nests deeper is left out, so that the stack does not overflow.
 */

import type { SymbolLabel } from "../model.ts";
import {
  type BindingRow,
  type ExprRow,
  exists,
  isNone,
  NONE,
  type ScopeRow,
  type SymbolRow,
  type TreeNode,
  type TypeRow,
} from "../rows.ts";
import { BindingKind, CallFlag, Expr, ScopeKind, SymbolFlag, Type } from "./fact-layout.ts";
import type { DecoratorInput, FactsBuilder } from "./facts-builder.ts";
import type { FlatTree } from "./flat-tree.ts";
import { oneLine } from "./one-line.ts";

/** The current place of a walk. Places are immutable: each scope has a new one. */
export interface Place {
  /** Innermost scope. */
  scope: ScopeRow;
  /** The nearest enclosing symbol that is a node; it owns the calls made here. None at the top of the file. */
  symbol: SymbolRow;
  /** The nearest enclosing symbol, including hidden ones; it is the parent of symbols declared here. */
  parent: SymbolRow;
  /** The scope of the class that `this` refers to, or none. */
  thisScope: ScopeRow;
  /** Collects the returned expressions of the innermost function; undefined outside of functions. */
  returns: ExprRow[] | undefined;
  /** Names of the innermost function's parameters and locals so far. */
  names: Set<string> | undefined;
}

interface Declared {
  label: SymbolLabel;
  name: string;
  node: TreeNode;
  /** The node before which the signature ends; if none, the signature ends with the declaration. */
  body: TreeNode;
  flags?: number;
  /** The node that the documentation precedes, if it is not `node`. */
  documented?: TreeNode;
  /** Whether the name is bound in its scope. Class members are not bound: they are found through their parent. */
  bound?: boolean;
}

/** Packs the fewest and most arguments of a call into one number, for a symbol's `arity`. */
export function packArity(required: number, most: number, variadic: boolean): number {
  return Math.min(required, 900) * 1000 + (variadic ? 999 : Math.min(most, 900));
}

const MAX_TEXT = 240;
const MAX_DEPTH = 400;
const NO_DECORATORS: readonly DecoratorInput[] = [];

export abstract class BlockWalk {
  private depth = 0;

  constructor(
    readonly tree: FlatTree,
    readonly facts: FactsBuilder,
  ) {}

  protected abstract expressionOf(node: TreeNode, at: Place): ExprRow;
  protected abstract statementOf(node: TreeNode, at: Place): Place;
  protected abstract typeOf(node: TreeNode, at: Place): TypeRow;
  /** Whether nodes of this kind are functions as values. */
  protected abstract isLambda(kind: string): boolean;
  /** Walks a lambda. `contextual` makes the expression that types its nth parameter. */
  protected abstract lambda(node: TreeNode, at: Place, contextual?: (parameter: number) => ExprRow): ExprRow;

  /** Opens scope 0, that of the file. */
  protected top(): Place {
    const scope = this.facts.scope(NONE, ScopeKind.File);
    return { scope, symbol: NONE, parent: NONE, thisScope: NONE, returns: undefined, names: undefined };
  }

  /** Walks an expression. @returns its row; none if there is no node */
  expression(node: TreeNode, at: Place): ExprRow {
    if (isNone(node)) return NONE;
    if (this.depth > MAX_DEPTH) return this.facts.expr(Expr.Unknown);
    this.depth++;
    const row = this.expressionOf(node, at);
    this.depth--;
    return row;
  }

  /** Walks a type. @returns its row; none if there is no node */
  type(node: TreeNode, at: Place): TypeRow {
    if (isNone(node) || this.depth > MAX_DEPTH) return NONE;
    this.depth++;
    const row = this.typeOf(node, at);
    this.depth--;
    return row;
  }

  /** Walks a statement. @returns the place for the statements after it */
  statement(node: TreeNode, at: Place): Place {
    if (isNone(node) || this.depth > MAX_DEPTH) return at;
    this.depth++;
    const after = this.statementOf(node, at);
    this.depth--;
    return after;
  }

  /** Walks the children of a node as statements, one after the other. */
  statements(node: TreeNode, at: Place): void {
    if (isNone(node)) return;
    let place = at;
    for (const child of this.tree.namedChildren(node)) place = this.statement(child, place);
  }

  /** Walks every named child as an expression. The result is unknown. */
  walkUnknown(node: TreeNode, at: Place): ExprRow {
    for (const child of this.tree.namedChildren(node)) this.expression(child, at);
    return this.facts.expr(Expr.Unknown);
  }

  /** A place in a new block. */
  block(at: Place): Place {
    return { ...at, scope: this.facts.scope(at.scope, ScopeKind.Block) };
  }

  text(node: TreeNode): string {
    return this.tree.source(node);
  }

  field(node: TreeNode, name: string): string {
    return this.tree.source(this.tree.child(node, name));
  }

  /** A name used as a value. */
  name(node: TreeNode, at: Place): ExprRow {
    const row = this.facts.exprName(this.tree.source(node), at.scope);
    this.facts.useValue(row, at.symbol, this.tree.line(node));
    return row;
  }

  /** Walks a value that is kept or passed on. If it is a member, it may name a method: `Handler{Serve: s.serve}`. */
  walkValue(node: TreeNode, at: Place): ExprRow {
    const row = this.expression(node, at);
    if (exists(row) && this.facts.exprs.op(row) === Expr.Member)
      this.facts.useValue(row, at.symbol, this.tree.line(node));
    return row;
  }

  /** A type mentioned by its plain name. */
  ref(name: string, at: Place, line: number, args: readonly TypeRow[] = []): TypeRow {
    const row = this.facts.typeRef(name, at.scope, args);
    this.facts.useType(row, at.symbol, line);
    return row;
  }

  declare(what: Declared, at: Place): SymbolRow {
    const { tree, facts } = this;
    const symbol = facts.symbol({
      label: what.label,
      name: what.name,
      parent: at.parent,
      scope: at.scope,
      startLine: tree.line(what.node),
      endLine: tree.endLine(what.node),
      flags: (what.flags ?? 0) | (what.name === "" ? SymbolFlag.Hidden : 0),
      signature: what.flags && what.flags & SymbolFlag.Hidden ? "" : this.signature(what.node, what.body),
      doc: this.doc(what.documented ?? what.node),
    });
    if (what.bound !== false && what.name !== "") facts.bind(symbol);
    // Read for hidden symbols too: decorators that wait for the next declaration belong to this one.
    const decorators = this.decoratorsOf(what.node, at);
    if ((what.flags ?? 0) & SymbolFlag.Hidden || what.name === "") return symbol;
    for (const decorator of decorators) facts.decorator(symbol, at.scope, decorator);
    return symbol;
  }

  /** The decorators, annotations or attributes of a declaration. */
  protected decoratorsOf(_node: TreeNode, _at: Place): readonly DecoratorInput[] {
    return NO_DECORATORS;
  }

  /** Describes the decorator at `node`. `name` has no arguments. */
  protected decorator(node: TreeNode, name: string, what: { value?: ExprRow; type?: TypeRow }): DecoratorInput {
    const { tree } = this;
    return {
      name: oneLine(name),
      startLine: tree.line(node),
      endLine: tree.endLine(node),
      signature: oneLine(this.text(node)),
      ...what,
    };
  }

  /** Declares the Import node for an import at `node`. `name` is the module or path as written. */
  protected importStatement(node: TreeNode, name: string, scope: ScopeRow, signature = this.text(node)): SymbolRow {
    const { tree, facts } = this;
    const [startLine, endLine] = [tree.line(node), tree.endLine(node)];
    return facts.importStatement({ name: oneLine(name), scope, startLine, endLine, signature: oneLine(signature) });
  }

  /** Binds a local variable or parameter. */
  local(name: string, at: Place, type: TypeRow, value: ExprRow, parameter = false): BindingRow {
    at.names?.add(name);
    return this.facts.local(at.scope, name, type, value, parameter ? BindingKind.Parameter : BindingKind.Local);
  }

  /** Opens the scope of a function symbol. */
  open(symbol: SymbolRow, at: Place): Place {
    const hidden = (this.facts.symbols.flags(symbol) & SymbolFlag.Hidden) !== 0;
    const scope = this.facts.scope(at.scope, ScopeKind.Function, symbol);
    return {
      scope,
      symbol: hidden ? at.symbol : symbol,
      parent: symbol,
      thisScope: at.thisScope,
      returns: [],
      names: new Set(),
    };
  }

  /** Opens the scope of a class-like symbol, in which its members are declared. */
  openClass(symbol: SymbolRow, at: Place): Place {
    const hidden = (this.facts.symbols.flags(symbol) & SymbolFlag.Hidden) !== 0;
    const scope = this.facts.scope(at.scope, ScopeKind.Class, symbol);
    return {
      scope,
      symbol: hidden ? at.symbol : symbol,
      parent: symbol,
      thisScope: scope,
      returns: undefined,
      names: undefined,
    };
  }

  /** Records what a function returns. Must be called after its body was walked. */
  close(symbol: SymbolRow, inside: Place): void {
    if (inside.returns && inside.returns.length > 0)
      this.facts.setSymbol(symbol, "returns", this.facts.list(inside.returns));
  }

  /** A hidden function symbol for a lambda or a function type. */
  hiddenFunction(node: TreeNode, at: Place, flags = 0): SymbolRow {
    return this.declare({ label: "Function", name: "", node, body: NONE, flags: SymbolFlag.Hidden | flags }, at);
  }

  /** Records a call with its arguments. Lambdas among them are typed by the parameter that they are passed for. */
  callOf(
    callee: ExprRow,
    args: readonly TreeNode[],
    at: Place,
    line: number,
    typeArgs: readonly TypeRow[] = [],
  ): ExprRow {
    const row = this.facts.expr(Expr.Call, callee);
    this.pass(row, args, at);
    this.facts.exprs.setTypeArgs(row, this.facts.list(typeArgs));
    this.facts.call(row, at.symbol, line);
    return row;
  }

  /** Records a constructor call: `new C(…)`. */
  newOf(callee: ExprRow, args: readonly TreeNode[], at: Place, line: number): ExprRow {
    const row = this.facts.expr(Expr.New, callee);
    this.pass(row, args, at);
    this.facts.call(row, at.symbol, line, CallFlag.New);
    return row;
  }

  private pass(row: ExprRow, args: readonly TreeNode[], at: Place): void {
    const rows = args.map((argument, i) =>
      this.isLambda(this.tree.kind(argument))
        ? this.lambda(argument, at, (parameter) => this.facts.expr(Expr.Contextual, row, i, parameter))
        : this.expression(argument, at),
    );
    this.facts.exprs.setArgs(row, this.facts.list(rows));
  }

  /**
   * Walks `new T<A>(…)`: a constructor call whose type arguments are written in `<…>`. For a library type, the result
   * is only a typed value.
   */
  protected construction(type: TypeRow, typeNode: TreeNode, args: readonly TreeNode[], at: Place): ExprRow {
    const { tree, facts } = this;
    if (isNone(type) || facts.types.op(type) === Type.Literal) {
      for (const argument of args) this.expression(argument, at);
      return facts.expr(Expr.Typed, type);
    }
    const row = this.newOf(this.classExpression(type), args, at, tree.line(typeNode));
    return /<\s*[^>\s]/.test(this.text(typeNode)) ? facts.expr(Expr.Typed, type, row) : row;
  }

  /** The text between the operands of a binary expression. */
  protected operatorOf(node: TreeNode): string {
    const { tree } = this;
    return tree.text.slice(tree.endIndex(tree.child(node, "left")), tree.startIndex(tree.child(node, "right")));
  }

  /**
   * The result of a binary operator: a boolean for comparisons and logic, a string if either operand is one, else the
   * left operand.
   */
  protected operation(operator: string, left: ExprRow, right: ExprRow): ExprRow {
    const { facts } = this;
    if (/[<>]=?\s*$|[=!]=|&&|\|\|/.test(operator) && !/<<|>>/.test(operator)) return facts.exprLiteral("bool");
    const isText = (row: ExprRow) =>
      facts.exprs.op(row) === Expr.Literal && facts.text(facts.exprs.name(row)) === "string";
    return isText(left) || isText(right) ? facts.exprLiteral("string") : left;
  }

  /** A called member. In languages where methods and fields have separate names, it means a method. */
  calledMember(object: ExprRow, name: string): ExprRow {
    return this.facts.expr(Expr.Member, object, this.facts.name(name), 1);
  }

  /** A type of the language's own library that carries types of the repository. See builtins.ts. */
  builtinType(name: string, args: readonly TypeRow[] = []): TypeRow {
    return this.facts.type(Type.Literal, this.facts.name(name), this.facts.list(args));
  }

  /** The declaration's text up to its body, as one line. */
  private signature(node: TreeNode, body: TreeNode): string {
    const { tree } = this;
    const end = exists(body) ? tree.startIndex(body) : tree.endIndex(node);
    const start = tree.startIndex(node);
    return tree.text
      .slice(start, Math.min(end, start + MAX_TEXT * 2))
      .replace(/\s+/g, " ")
      .replace(/(?<![\s={;])[\s={;]+$/, "")
      .slice(0, MAX_TEXT);
  }

  /** The first sentence of the comment directly before a declaration. */
  private doc(node: TreeNode): string {
    const { tree } = this;
    const end = tree.startIndex(node);
    const before = tree.text.slice(Math.max(0, end - 800), end);
    if (/\n[ \t]*\r?\n[ \t]*$/.test(before)) return "";
    return firstSentence(commentAtEnd(before.trimEnd()));
  }

  /** The class of a type row as a value, for constructions and in front of `::`. */
  protected classExpression(type: TypeRow): ExprRow {
    const { facts } = this;
    if (facts.types.op(type) === Type.Qualified)
      return facts.expr(Expr.Member, this.classExpression(facts.types.qualifier(type)), facts.types.member(type));
    return facts.types.op(type) === Type.Ref
      ? facts.expr(Expr.Name, facts.types.name(type), facts.types.scope(type))
      : facts.expr(Expr.Typed, type);
  }
}

/** The text of the comment at the end of a text, without comment marks. */
function commentAtEnd(before: string): string {
  if (before.endsWith("*/")) {
    const open = before.lastIndexOf("/*");
    return open < 0 ? "" : before.slice(open + 2, -2).replace(/^[\s*!]+/gm, "");
  }
  const lines: string[] = [];
  for (const line of before.split("\n").reverse()) {
    const match = /^\s*\/\/[/!]?\s?(.*)$/.exec(line.replace(/\r$/, ""));
    if (!match) {
      // Attributes may stand between a comment and the declaration that it documents.
      if (lines.length === 0 && /^(?:#!?\[.*\]|\[[^\]]*\]|@\w.*)$/s.test(line.trim())) continue;
      break;
    }
    lines.push(match[1]!);
  }
  return lines.reverse().join("\n");
}

function firstSentence(text: string): string {
  const flat = text
    .replace(/<\/?\w[^<>]*>/g, " ")
    .trim()
    .replace(/\n\s*\n[\s\S]*/, "")
    .replace(/\s+/g, " ")
    .trim();
  const stop = flat.search(/[.:](\s|$)|\s@\w/);
  return (stop > 0 ? flat.slice(0, stop) : flat).trim().slice(0, MAX_TEXT);
}
