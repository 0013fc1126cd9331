/** The current place in the walk of an ECMAScript file. Contexts are values: each scope has a new one. */
import type { SymbolLabel } from "../../model.ts";
import { SymbolFlag } from "../fact-layout.ts";
import type { FactsBuilder } from "../facts-builder.ts";
import type { FlatTree } from "../flat-tree.ts";
import type { Written } from "./decorators.ts";

export interface Context {
  /** Innermost scope. */
  scope: number;
  /** Innermost function, namespace or file scope, where `var` lives. */
  varScope: number;
  /** Where `infer` declares its names: the scope of the innermost conditional type. */
  inferScope?: number;
  /** Nearest enclosing symbol that is a node, -1 at the top: who a call belongs to. */
  symbol: number;
  /** Nearest enclosing symbol, hidden ones included: the parent of what is declared here. */
  parent: number;
  /** Scope of the class or object that `this` is, or -1. */
  thisScope: number;
  /** Collects returned expressions of the innermost function; undefined at the top. */
  returns: number[] | undefined;
  /** What the innermost function is expected to return. */
  returning?: Expected | undefined;
  /** True where constants are nodes: the top of a file or a namespace. */
  top: boolean;
}

/**
 * The expression row of what is expected where an expression stands: a declared type, a parameter of a called function.
 * Made when it is first asked for, which is where a function without declared parameters stands.
 */
export type Expected = () => number;

/** What the parts of the extractor share for one file. */
export interface Walk {
  tree: FlatTree;
  facts: FactsBuilder;
  /** Function signatures that wait for their implementation, by scope and name. */
  overloads: Map<string, number>;
  /** Functions, classes and variables at the top of the file, by name. */
  tops: Map<string, number>;
  /** Nodes whose value is awaited although the `await` stands deeper in the tree: see `misplacedPrefix`. */
  awaited: Set<number>;
  /** Decorators that stand before what they decorate, until it is declared. */
  decorators: Written[];
  expression(node: number, context: Context): number;
  /** The same, where something is expected of the expression. */
  expected(node: number, context: Context, expected: Expected | undefined): number;
  statement(node: number, context: Context): void;
  type(node: number, context: Context): number;
  /** Declares a function-like node's scope, parameters and body under an existing symbol. */
  functionBody(node: number, symbol: number, context: Context, options: FunctionOptions): void;
  /** Declares a class under a name; returns its symbol. */
  classLike(node: number, name: string, context: Context, flags: number): number;
  /** Declares a function under a name; returns its symbol. */
  functionDeclaration(node: number, context: Context, name: string, flags: number): number;
  /** Declares an interface, alias, enum or namespace. */
  typeDeclaration(node: number, context: Context, flags: number): void;
  variableDeclaration(node: number, context: Context, flags: number): void;
  /** Notes `module.exports = …` and the like; the row of the value, undefined when the assignment is none of these. */
  commonJsExport(left: number, right: number, context: Context): number | undefined;
}

export interface FunctionOptions {
  /** Arrow functions keep the `this` of where they stand. */
  arrow: boolean;
  /** Scope that `this` is for a method; -1 for a plain function. */
  thisScope: number;
  /** A constructor function: `this` is an instance of the function itself. */
  constructs?: boolean;
  /** Types the parameters of a lambda by its context: makes the expression for parameter i. */
  contextual?: ((parameter: number) => number) | undefined;
  /** What the context expects the function to return, where it declares nothing. */
  returning?: Expected | undefined;
}

/** A symbol without a name that holds the members of a literal, of values or of a type. */
export function literalHolder(walk: Walk, label: SymbolLabel, node: number, context: Context): number {
  return walk.facts.symbol({
    label,
    name: "",
    parent: context.parent,
    scope: context.scope,
    startLine: walk.tree.line(node),
    endLine: walk.tree.endLine(node),
    flags: SymbolFlag.Hidden,
  });
}

const MAX_TEXT = 240;

/** True for the node kinds of functions as values. */
export function isLambda(kind: string): boolean {
  return (
    kind === "arrow_function" || kind === "function_expression" || kind === "generator_function" || kind === "function"
  );
}

/** The declaration's text up to its body, on one line, at most 240 characters. */
export function signatureOf(tree: FlatTree, node: number, body: number): string {
  const end = body >= 0 ? tree.startIndex(body) : tree.endIndex(node);
  const start = tree.startIndex(node);
  const text = tree.text.slice(start, Math.min(end, start + MAX_TEXT * 2));
  return text
    .replace(/\s+/g, " ")
    .replace(/(?<![\s={])[\s={]+$/, "")
    .slice(0, MAX_TEXT);
}

/** The first sentence or line of the documentation comment before a declaration. */
export function docBefore(tree: FlatTree, node: number): string {
  let target = node;
  const parent = tree.parent(node);
  if (
    parent >= 0 &&
    /^(export_statement|lexical_declaration|decorated_definition|ambient_declaration)$/.test(tree.kind(parent))
  )
    target = parent;
  const grand = tree.parent(target);
  if (grand >= 0 && tree.kind(grand) === "export_statement") target = grand;
  const before = tree.text.slice(Math.max(0, tree.startIndex(target) - 600), tree.startIndex(target)).trimEnd();
  if (!before.endsWith("*/")) return "";
  const open = before.lastIndexOf("/**");
  if (open < 0) return "";
  return firstSentence(before.slice(open + 3, -2).replace(/^[\s*]+/gm, ""));
}

/** First sentence of a text, at most 240 characters, on one line. */
export function firstSentence(text: string): string {
  const flat = text
    .replace(/\n\s*\n[\s\S]*/, "")
    .replace(/\s+/g, " ")
    .trim();
  const stop = flat.search(/\.(\s|$)|@\w/);
  return (stop > 0 ? flat.slice(0, stop) : flat).trim().slice(0, MAX_TEXT);
}

/** The value of a string literal node without its quotes. */
export function stringValue(tree: FlatTree, node: number): string {
  return tree.source(node).slice(1, -1);
}
