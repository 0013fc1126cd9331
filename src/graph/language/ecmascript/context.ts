/** The current place in the walk of an ECMAScript file, and how its declarations are described. Contexts are values: each scope has a new one. */

import { type ExprRow, exists, isNone, NONE, type ScopeRow, type SymbolRow, type TreeNode } from "../../rows.ts";
import type { FlatTree } from "../flat-tree.ts";

export interface Context {
  /** Innermost scope. */
  scope: ScopeRow;
  /** Innermost function, namespace or file scope, where `var` lives. */
  varScope: ScopeRow;
  /** Where `infer` declares its names: the scope of the innermost conditional type. */
  inferScope?: ScopeRow;
  /** Nearest enclosing symbol that is a node, none at the top: who a call belongs to. */
  symbol: SymbolRow;
  /** Nearest enclosing symbol, hidden ones included: the parent of what is declared here. */
  parent: SymbolRow;
  /** Scope of the class or object that `this` is, or none. */
  thisScope: ScopeRow;
  /** Collects returned expressions of the innermost function; undefined at the top. */
  returns: ExprRow[] | undefined;
  /** What the innermost function is expected to return. */
  returning?: Expected | undefined;
  /** True where constants are nodes: the top of a file or a namespace. */
  top: boolean;
}

/**
 * The expression row of what is expected where an expression stands: a declared type, a parameter of a called function.
 * Made when it is first asked for, which is where a function without declared parameters stands.
 */
export type Expected = () => ExprRow;

/** An expectation that is made at most once. */
export function expect(make: () => ExprRow): Expected {
  let row: ExprRow = NONE;
  return () => {
    if (isNone(row)) row = make();
    return row;
  };
}

export interface FunctionOptions {
  /** Arrow functions keep the `this` of where they stand. */
  arrow: boolean;
  /** Scope that `this` is for a method; none for a plain function. */
  thisScope: ScopeRow;
  /** A constructor function: `this` is an instance of the function itself. */
  constructs?: boolean;
  /** Types the parameters of a lambda by its context: makes the expression for parameter i. */
  contextual?: ((parameter: number) => ExprRow) | undefined;
  /** What the context expects the function to return, where it declares nothing. */
  returning?: Expected | undefined;
}

const MAX_TEXT = 240;

/** True for the node kinds of functions as values. */
export function isLambda(kind: string): boolean {
  return (
    kind === "arrow_function" || kind === "function_expression" || kind === "generator_function" || kind === "function"
  );
}

/** The declaration's text up to its body, on one line, at most 240 characters. */
export function signatureOf(tree: FlatTree, node: TreeNode, body: TreeNode): string {
  const end = exists(body) ? tree.startIndex(body) : tree.endIndex(node);
  const start = tree.startIndex(node);
  const text = tree.text.slice(start, Math.min(end, start + MAX_TEXT * 2));
  const line = IS_SPREAD.test(text) ? text.replace(/\s+/g, " ") : text;
  let length = line.length;
  while (length > 0 && OPENS_BODY.has(line.charCodeAt(length - 1))) length--;
  return line.slice(0, Math.min(length, MAX_TEXT));
}

/** White space that is not one blank. */
const IS_SPREAD = /[^\S ]| {2}/;
/** What stands between a declaration and its body: a blank, `=`, `{`. */
const OPENS_BODY = new Set([32, 61, 123]);

/** The first sentence or line of the documentation comment before a declaration. */
export function docBefore(tree: FlatTree, node: TreeNode): string {
  let target = node;
  const parent = tree.parent(node);
  if (
    exists(parent) &&
    /^(export_statement|lexical_declaration|decorated_definition|ambient_declaration)$/.test(tree.kind(parent))
  )
    target = parent;
  const grand = tree.parent(target);
  if (exists(grand) && tree.kind(grand) === "export_statement") target = grand;
  const before = textBefore(tree.text, tree.startIndex(target));
  if (!before.endsWith("*/")) return "";
  const open = before.lastIndexOf("/**");
  if (open < 0) return "";
  return firstSentence(before.slice(open + 3, -2).replace(/^[\s*]+/gm, ""));
}

/** The last characters before a place, without the white space there. */
function textBefore(text: string, place: number): string {
  const start = Math.max(0, place - 600);
  let end = place;
  while (end > start && isBlank(text, end - 1)) end--;
  // As a rule it is the end of something that is no comment.
  return text.charCodeAt(end - 1) === 47 ? text.slice(start, end) : "";
}

function isBlank(text: string, place: number): boolean {
  const code = text.charCodeAt(place);
  return code <= 32 || (code > 127 && text.charAt(place).trim() === "");
}

/** First sentence of a text, at most 240 characters, on one line. */
function firstSentence(text: string): string {
  const flat = text
    .replace(/\n\s*\n[\s\S]*/, "")
    .replace(/\s+/g, " ")
    .trim();
  const stop = flat.search(/\.(\s|$)|@\w/);
  return (stop > 0 ? flat.slice(0, stop) : flat).trim().slice(0, MAX_TEXT);
}

/** The value of a string literal node without its quotes. */
export function stringValue(tree: FlatTree, node: TreeNode): string {
  return tree.source(node).slice(1, -1);
}
