/**
 * A syntax tree, copied from the parser into flat arrays.
 *
 * Reading a node through the parser's own objects costs a foreign call and an allocation; that took most of the time of
 * every measured indexer. Here, one pass over the parser's memory fills typed arrays and the parser's tree is freed.
 * After that, reading a node costs an array access. Punctuation is left out.
 *
 * A node is its index in document order, so that a parent comes before its children; -1 means none. Offsets are UTF-16
 * units of `text`. Lines count from 1.
 */

import type { Language } from "web-tree-sitter";
import { exists, isNone, NONE, rowAfter, rowAt, type TreeNode } from "../rows.ts";

/** The names of one grammar's node types and fields by numeric id, and which node types are copied. */
export interface GrammarTables {
  kinds: string[];
  fields: string[];
  keep: Uint8Array;
  /** 1 for types of named nodes other than comments. */
  walked: Uint8Array;
}

/** Unnamed tokens that carry meaning. All other punctuation is skipped. */
const MEANINGFUL_TOKEN = /^[A-Za-z_]|^(\?\?|\|\||&&|=|\+|-|\*|\?|!|&|::|->|\.|\.\.\.|<-|:=)$/;

/**
 * Interns a text as the name of a property. Two interned strings are compared by address, other strings character by
 * character. Walks compare kinds all the time and take a twelfth less time this way.
 */
const intern = (text: string): string => Object.keys({ [text]: 0 })[0] ?? "";

/** Reads the id tables of a loaded grammar. */
export function grammarTables(language: Language): GrammarTables {
  const count = language.nodeTypeCount;
  const kinds: string[] = [];
  const keep = new Uint8Array(count);
  const walked = new Uint8Array(count);
  for (let id = 0; id < count; id++) {
    const kind = language.types[id] ?? "ERROR";
    kinds.push(intern(kind));
    keep[id] = language.nodeTypeIsNamed(id) ? 2 : MEANINGFUL_TOKEN.test(kind) && kind !== "end" ? 1 : 0;
    walked[id] = keep[id] === 2 && !kind.includes("comment") ? 1 : 0;
  }
  return { kinds, keep, walked, fields: language.fields.map((name) => intern(name ?? "")) };
}

/** The type of an ERROR node, which covers text that the parser could not read. */
export const ERROR_TYPE = 65535;
/** Kinds of nodes that are walked even inside of an ERROR node. */
const READ_INSIDE =
  /(?:_definition|_declaration|_statement|_item|_specifier|_assignment|_list|_clause|_block|_include|_def|_ifdef|_if)$/;
/** A comment is recognized if it begins within this many characters of its line. */
const INDENT = 200;
const COMMENT = /^(?:\/\/|\/\*|\*(?:\s|\/|$)|#)/;

/** One value per node for each property of nodes. A thread reuses the same columns for one file after another. */
export interface TreeColumns {
  type: Uint16Array;
  field: Uint16Array;
  from: Int32Array;
  to: Int32Array;
  up: Int32Array;
  /** The index after the node's last descendant. It is the next sibling if the parent extends that far. */
  after: Int32Array;
}

export function treeColumns(nodes: number): TreeColumns {
  return {
    type: new Uint16Array(nodes),
    field: new Uint16Array(nodes),
    from: new Int32Array(nodes),
    to: new Int32Array(nodes),
    up: new Int32Array(nodes),
    after: new Int32Array(nodes),
  };
}

export class FlatTree {
  count = 0;
  private type: Uint16Array;
  private field: Uint16Array;
  private from: Int32Array;
  private to: Int32Array;
  private up: Int32Array;
  private after: Int32Array;
  private lineStarts: Int32Array | undefined;
  /** The last line that was asked for, counted from 0. */
  private lastLine = 0;
  /** Number of ERROR nodes: a measure of how much of the file was not understood. */
  errors = 0;
  /** The outermost ERROR nodes. */
  private readonly gaps: number[] = [];

  /** @param columns reusable memory, whatever its content; the tree owns it until `columns` gives it back */
  constructor(
    readonly text: string,
    private readonly tables: GrammarTables,
    columns: TreeColumns,
  ) {
    this.type = columns.type;
    this.field = columns.field;
    this.from = columns.from;
    this.to = columns.to;
    this.up = columns.up;
    this.after = columns.after;
  }

  private grow(): void {
    const bigger = treeColumns(this.type.length * 2);
    bigger.type.set(this.type);
    bigger.field.set(this.field);
    bigger.from.set(this.from);
    bigger.to.set(this.to);
    bigger.up.set(this.up);
    bigger.after.set(this.after);
    this.type = bigger.type;
    this.field = bigger.field;
    this.from = bigger.from;
    this.to = bigger.to;
    this.up = bigger.up;
    this.after = bigger.after;
  }

  /** Gives back the tree's columns for another tree. This tree must not be read any more. */
  columns(): TreeColumns {
    const { type, field, from, to, up, after } = this;
    return { type, field, from, to, up, after };
  }

  /** Appends a node. A parent must be appended before its children. @returns the node */
  append(type: number, field: number, from: number, to: number, parent: number): number {
    const node = this.count++;
    if (node === this.type.length) this.grow();
    this.type[node] = type;
    this.field[node] = field;
    this.from[node] = from;
    this.to[node] = to;
    this.up[node] = parent;
    this.after[node] = this.count;
    if (type === ERROR_TYPE) this.noteError(node);
    return node;
  }

  /** Ends a node: nodes that are appended later are outside of it. */
  close(node: number): void {
    this.after[node] = this.count;
  }

  private noteError(node: number): void {
    this.errors++;
    const last = this.gaps.at(-1);
    if (last === undefined || this.from[node]! >= this.to[last]!) this.gaps.push(node);
  }

  /**
   * Counts lines that the parser could not read, in whole or in part. Declarations and statements that are complete
   * inside of an unreadable part are walked, so their lines do not count. Empty lines and comments do not count either.
   */
  unreadLines(): number {
    const lines = new Set<number>();
    const open = [...this.gaps];
    for (let gap = open.pop(); gap !== undefined; gap = open.pop()) open.push(...this.noteUnread(gap, lines));
    return lines.size;
  }

  /** @returns the ERROR nodes inside of readable parts of this gap; they are counted separately */
  private noteUnread(gap: number, lines: Set<number>): number[] {
    const inner: number[] = [];
    let at = this.from[gap]!;
    for (let node = gap + 1; node < this.after[gap]!; ) {
      if (!this.isReadInside(node)) {
        node++;
        continue;
      }
      this.noteLines(at, this.from[node]!, lines);
      const end = this.after[node]!;
      at = Math.max(at, this.to[node]!);
      for (node++; node < end; node++)
        if (this.type[node] === ERROR_TYPE) {
          inner.push(node);
          node = this.after[node]! - 1;
        }
    }
    this.noteLines(at, this.to[gap]!, lines);
    return inner;
  }

  private isReadInside(node: number): boolean {
    return this.type[node] !== ERROR_TYPE && this.after[node]! > node + 1 && READ_INSIDE.test(this.kind(rowAt(node)));
  }

  private noteLines(from: number, to: number, lines: Set<number>): void {
    for (let at = from; at < to; ) {
      const found = this.text.indexOf("\n", at);
      const end = found < 0 || found > to ? to : found;
      const line = this.lineAt(at);
      const start = this.lineStarts![line - 1]!;
      const isComment = COMMENT.test(this.text.slice(start, Math.min(end, start + INDENT)).trimStart());
      if (!isComment && this.text.slice(at, end).trim() !== "") lines.add(line);
      at = end + 1;
    }
  }

  /** The grammar's name for the node's type; "ERROR" for text that the parser could not read. */
  kind(node: TreeNode): string {
    return isNone(node) ? "" : (this.tables.kinds[this.type[node]!] ?? "ERROR");
  }

  /** True for named nodes, false for keywords and operators. */
  isNamed(node: TreeNode): boolean {
    const type = this.type[node]!;
    return type === ERROR_TYPE || this.tables.keep[type] === 2;
  }

  /** True for named nodes other than comments. */
  private isWalked(node: TreeNode): boolean {
    const type = this.type[node]!;
    return type === ERROR_TYPE || this.tables.walked[type] === 1;
  }

  fieldName(node: TreeNode): string {
    return this.tables.fields[this.field[node]!] ?? "";
  }

  parent(node: TreeNode): TreeNode {
    return rowAt(this.up[node]!);
  }

  /** The first child of any kind, or none. */
  first(node: TreeNode): TreeNode {
    return exists(node) && this.after[node]! > node + 1 ? rowAfter(node) : NONE;
  }

  /** The next sibling of any kind, or none. */
  next(node: TreeNode): TreeNode {
    const candidate = rowAt<TreeNode>(this.after[node]!);
    const parent = this.parent(node);
    const end = exists(parent) ? this.after[parent]! : this.count;
    return candidate < end ? candidate : NONE;
  }

  /** The index after the node's last descendant. `for (i = node + 1; i < end(node); i++)` visits all descendants. */
  end(node: TreeNode): TreeNode {
    return rowAt(this.after[node]!);
  }

  /** The child in a field of the grammar, or none. */
  child(node: TreeNode, field: string): TreeNode {
    for (let c = this.first(node); exists(c); c = this.next(c)) if (this.fieldName(c) === field) return c;
    return NONE;
  }

  /** The first child of a kind (named or token), or none. */
  childOfKind(node: TreeNode, kind: string): TreeNode {
    for (let c = this.first(node); exists(c); c = this.next(c)) if (this.kind(c) === kind) return c;
    return NONE;
  }

  /** The named children except comments. */
  namedChildren(node: TreeNode): TreeNode[] {
    const found: TreeNode[] = [];
    for (let c = this.first(node); exists(c); c = this.next(c)) {
      if (this.isWalked(c)) found.push(c);
    }
    return found;
  }

  /** First named child that is not a comment, or none. */
  firstNamed(node: TreeNode): TreeNode {
    for (let c = this.first(node); exists(c); c = this.next(c)) {
      if (this.isWalked(c)) return c;
    }
    return NONE;
  }

  startIndex(node: TreeNode): number {
    return this.from[node]!;
  }

  endIndex(node: TreeNode): number {
    return this.to[node]!;
  }

  /** The node's source text. */
  source(node: TreeNode): string {
    return isNone(node) ? "" : this.text.slice(this.from[node]!, this.to[node]!);
  }

  /** Line of an offset, counted from 1. */
  lineAt(offset: number): number {
    this.lineStarts ??= lineStartsOf(this.text);
    const starts = this.lineStarts;
    let low = 0;
    let high = starts.length - 1;
    // A walk asks for lines in ascending order, so the last line is a good start.
    const { lastLine } = this;
    if (starts[lastLine]! <= offset) {
      low = lastLine;
      if (lastLine < high && starts[lastLine + 1]! > offset) return lastLine + 1;
    } else high = lastLine - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    this.lastLine = low;
    return low + 1;
  }

  line(node: TreeNode): number {
    return this.lineAt(this.from[node]!);
  }

  endLine(node: TreeNode): number {
    return this.lineAt(Math.max(this.from[node]!, this.to[node]! - 1));
  }
}

function lineStartsOf(text: string): Int32Array {
  const starts: number[] = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return Int32Array.from(starts);
}
