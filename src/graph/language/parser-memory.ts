/**
 * Copies a syntax tree out of the memory in which the parser made it.
 *
 * The parser's own ways to a node are functions of its WebAssembly module, several calls for each node: that was a quarter
 * of what parsing costs. The memory of the module can be read like any other, and a tree in it is simple. What stands
 * where is not part of the parser's interface, so it holds for the version of web-tree-sitter that `package.json`
 * names. `parser-memory.test.ts` compares each node with what the interface says, and fails for a version that differs.
 *
 * Names in capitals are places in a C structure, in words of 32 bits, as long as an address is there. The structures are
 * those of tree-sitter's `lib/src` (`tree.h`, `subtree.h`, `parser.h`).
 */
import type { Language, Tree } from "web-tree-sitter";
import { ERROR_TYPE, type FlatTree } from "./flat-tree.ts";

/** The module's memory; another one once it has grown. */
export interface ParserMemory {
  HEAP32: Int32Array;
}

/** `TSTree`: its first member is the root, a `Subtree`. That is a small leaf itself, or the address of its data. */
const SUBTREE_WORDS = 2;
/** `SubtreeHeapData`: `padding` is what stands before the node, `size` the node; both begin with their bytes. */
const [PADDING, SIZE, CHILD_COUNT, FLAGS, VISIBLE_CHILD_COUNT] = [1, 4, 9, 11, 12];
/** `symbol` is the lower half of its word, `production_id` the upper half. */
const [SYMBOL, PRODUCTION_ID] = [10, 16];
/** The flags, from the lowest bit on: `visible`, `named`, `extra`. */
const [VISIBLE, EXTRA] = [1, 4];
/** `SubtreeInlineData`, a small leaf. Before its flags stands the bit `is_inline`, which no address has. */
const INLINE = 1;

/** `TSLanguage`. */
const [SYMBOL_COUNT, ALIAS_COUNT, PRODUCTION_COUNT, FIELD_COUNT, MAX_ALIASES] = [1, 2, 7, 8, 9];
const [FIELD_SLICES, FIELD_ENTRIES, PUBLIC_SYMBOLS, ALIAS_SEQUENCES] = [16, 17, 19, 21];

/** What a grammar says about the children of a node, for each way to make one (a production). */
export interface Productions {
  /** Children that a row of the tables has room for. */
  width: number;
  /** The symbol as which a child goes there instead of its own, or 0. */
  aliases: Uint16Array;
  fields: Uint16Array;
  /** The node type as which a symbol of the parser is known: several symbols may be one type. */
  types: Uint16Array;
}

/** The word of a place that is in the memory. */
const wordAt = (memory: Int32Array, place: number): number => memory[place] ?? 0;

/** Reads the tables of a loaded grammar once. */
export function readProductions(language: Language, { HEAP32: memory }: ParserMemory): Productions {
  const self: number = Reflect.get(language, 0) / 4;
  const member = (place: number): number => wordAt(memory, self + place);
  const halvesAt = (address: number, length: number) =>
    new Uint16Array(memory.buffer.slice(address, address + length * 2));
  const width = member(MAX_ALIASES) & 0xffff;
  const rows = member(PRODUCTION_COUNT);
  const fields = new Uint16Array(rows * width);
  for (let row = 0; row < rows && member(FIELD_COUNT) > 0; row++) {
    // `TSMapSlice`: where the entries of the row begin, and how many there are. From the last one on: the first holds.
    const slice = wordAt(memory, member(FIELD_SLICES) / 4 + row);
    const entries = member(FIELD_ENTRIES) / 4 + (slice & 0xffff);
    for (let i = (slice >>> 16) - 1; i >= 0; i--) {
      // `TSFieldMapEntry`: `field_id`, `child_index`, `inherited`.
      const entry = wordAt(memory, entries + i);
      const isInherited = entry >>> 24 > 0;
      if (!isInherited) fields[row * width + ((entry >>> 16) & 0xff)] = entry & 0xffff;
    }
  }
  const aliases = halvesAt(member(ALIAS_SEQUENCES), rows * width);
  const types = halvesAt(member(PUBLIC_SYMBOLS), member(SYMBOL_COUNT) + member(ALIAS_COUNT));
  return { width, aliases, types, fields };
}

/** Integers of a level of the tree that are put aside while a level below it is read. */
const LEVEL = 6;

/**
 * Appends the nodes of a tree that are kept. Without recursion, so that deeply nested source cannot overflow the stack.
 * @param keep by node type: 2 with its children, 1 alone, 0 not at all
 */
export function copyTree(
  tree: Tree,
  { HEAP32: memory }: ParserMemory,
  grammar: Productions,
  keep: Uint8Array,
  into: FlatTree,
): void {
  const { width, aliases, fields, types } = grammar;
  let outer = new Int32Array(64 * LEVEL);
  let depth = 0;
  // The level that is read: the children of one node, from `at` to `end`. The root's level is the root alone.
  let at: number = Reflect.get(tree, 0) / 4;
  let end = at + SUBTREE_WORDS;
  /** The row of the tables that says about these children. */
  let row = 0;
  /** Which child comes next in that row, where comments and the like do not count. */
  let column = 0;
  /** The field of a node that does not show, which is the field of its children. */
  let handedDown = 0;
  /** The nearest node above that was appended. */
  let parent = -1;
  /** The end of what was read so far, in bytes; a character has two. */
  let offset = 0;
  for (;;) {
    if (at === end) {
      if (depth === 0) return;
      const ended = parent;
      depth -= LEVEL;
      at = wordAt(outer, depth);
      end = wordAt(outer, depth + 1);
      row = wordAt(outer, depth + 2);
      column = wordAt(outer, depth + 3);
      handedDown = wordAt(outer, depth + 4);
      parent = wordAt(outer, depth + 5);
      if (ended !== parent) into.close(ended);
      continue;
    }
    const first = wordAt(memory, at);
    const data = first >>> 2;
    let symbol: number;
    let flags: number;
    let padding: number;
    let size: number;
    let children = 0;
    if (first & INLINE) {
      // From the lowest byte on: flags, `symbol`, two of `parse_state`; two of others, `padding_bytes`, `size_bytes`.
      const second = wordAt(memory, at + 1);
      flags = first >>> 1;
      symbol = (first >>> 8) & 0xff;
      padding = (second >>> 16) & 0xff;
      size = second >>> 24;
    } else {
      flags = wordAt(memory, data + FLAGS);
      symbol = wordAt(memory, data + SYMBOL) & 0xffff;
      padding = wordAt(memory, data + PADDING);
      size = wordAt(memory, data + SIZE);
      children = wordAt(memory, data + CHILD_COUNT);
    }
    at += SUBTREE_WORDS;
    let isVisible = (flags & VISIBLE) !== 0;
    let field = 0;
    if ((flags & EXTRA) === 0) {
      field = handedDown;
      if (row > 0) {
        const alias = aliases[row + column] ?? 0;
        if (alias > 0) {
          symbol = alias;
          isVisible = true;
        }
        field = fields[row + column] || handedDown;
      }
      column++;
    }
    const start = offset + padding;
    let node = parent;
    let isRead = children > 0;
    if (isVisible) {
      const type = symbol === ERROR_TYPE ? ERROR_TYPE : (types[symbol] ?? 0);
      const kept = type === ERROR_TYPE ? 2 : (keep[type] ?? 0);
      if (kept > 0) node = into.append(type, field, start >>> 1, (start + size) >>> 1, parent);
      isRead &&= kept === 2;
    } else isRead &&= wordAt(memory, data + VISIBLE_CHILD_COUNT) > 0;
    if (!isRead) {
      offset = start + size;
      continue;
    }
    if (depth === outer.length) {
      const more = new Int32Array(depth * 2);
      more.set(outer);
      outer = more;
    }
    outer[depth] = at;
    outer[depth + 1] = end;
    outer[depth + 2] = row;
    outer[depth + 3] = column;
    outer[depth + 4] = handedDown;
    outer[depth + 5] = parent;
    depth += LEVEL;
    // Its children stand before its data. What stands before the first of them is what stands before the node.
    at = data - children * SUBTREE_WORDS;
    end = data;
    row = (wordAt(memory, data + PRODUCTION_ID) >>> 16) * width;
    column = 0;
    handedDown = isVisible ? 0 : field;
    parent = node;
  }
}
