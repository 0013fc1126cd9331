/**
 * The current place in the walk of an ECMAScript file, and how declarations are described. Contexts are immutable: each
 * scope has a new one.
 */

import { type ExprRow, exists, isNone, NONE, type ScopeRow, type SymbolRow, type TreeNode } from "../../rows.ts";
import type { FlatTree } from "../flat-tree.ts";

export interface Context {
  /** Innermost scope. */
  scope: ScopeRow;
  /** The innermost function, namespace or file scope, to which `var` belongs. */
  varScope: ScopeRow;
  /** The scope of the innermost conditional type, in which `infer` declares names. */
  inferScope?: ScopeRow;
  /** The nearest enclosing symbol that is a node; it owns the calls made here. None at the top of the file. */
  symbol: SymbolRow;
  /** The nearest enclosing symbol, including hidden ones; it is the parent of symbols declared here. */
  parent: SymbolRow;
  /** The scope of the class or object that `this` refers to, or none. */
  thisScope: ScopeRow;
  /** Collects the returned expressions of the innermost function; undefined at the top. */
  returns: ExprRow[] | undefined;
  /** What the innermost function is expected to return. */
  returning?: Expected | undefined;
  /** True at the top of a file or namespace, where constants are nodes. */
  top: boolean;
}

/**
 * Makes an expression row that stands for the expected type of an expression: a declared type, or a parameter of the
 * called function. It is called only where needed: at a function without declared parameter types.
 */
export type Expected = () => ExprRow;

/** Makes an expectation that creates its row at most once. */
export function expect(make: () => ExprRow): Expected {
  let row: ExprRow = NONE;
  return () => {
    if (isNone(row)) row = make();
    return row;
  };
}

export interface FunctionOptions {
  /** An arrow function keeps the `this` of the place where it stands. */
  arrow: boolean;
  /** The scope that `this` refers to in a method; none for a plain function. */
  thisScope: ScopeRow;
  /** The function is a constructor function: `this` is an instance of the function itself. */
  constructs?: boolean;
  /** Makes the expression that types the nth parameter of a lambda by its context. */
  toContextual?: ((parameter: number) => ExprRow) | undefined;
  /** What the context expects the function to return, if the function declares no type. */
  returning?: Expected | undefined;
}

const MAX_TEXT = 240;

/** Whether nodes of this kind are functions as values. */
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

/** White space other than single blanks. */
const IS_SPREAD = /[^\S ]| {2}/;
/** Characters between a declaration and its body: blank, `=` and `{`. */
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

/** The text before a place, without trailing white space. It is "" unless it ends in `/`, as a comment does. */
function textBefore(text: string, place: number): string {
  const start = Math.max(0, place - 600);
  let end = place;
  while (end > start && isBlank(text, end - 1)) end--;
  // Most declarations do not follow a comment, so the last character is checked first.
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
