/**
 * Copies a syntax tree directly from the memory in which the parser built it.
 *
 * The parser's interface needs several calls of WebAssembly functions for each node; that was a quarter of the cost of
 * parsing. The module's memory can be read like any other, and the tree in it is simple. Its layout is not part of the
 * parser's interface, so this code holds only for the version of web-tree-sitter that `package.json` names.
 * `parser-memory.test.ts` compares each node with what the interface returns, and fails for a version that differs.
 *
 * Names in capitals are offsets in a C structure, in words of 32 bits, the size of an address there. The structures are
 * those of tree-sitter's `lib/src` (`tree.h`, `subtree.h`, `parser.h`).
 */
import type { Language, Tree } from "web-tree-sitter";
import { ERROR_TYPE, type FlatTree } from "./flat-tree.ts";

/** The module's memory. The buffer is replaced when the memory grows. */
export interface ParserMemory {
  HEAP32: Int32Array;
}

/**
 * `TSTree`: its first member is the root, a `Subtree`. A `Subtree` is either a small inline leaf, or the address of its
 * data.
 */
const SUBTREE_WORDS = 2;
/**
 * `SubtreeHeapData`: `padding` is the text before the node, `size` that of the node. Both begin with their length in
 * bytes.
 */
const [PADDING, SIZE, CHILD_COUNT, FLAGS, VISIBLE_CHILD_COUNT] = [1, 4, 9, 11, 12];
/** `symbol` is in the lower half of its word, `production_id` in the upper half. */
const [SYMBOL, PRODUCTION_ID] = [10, 16];
/** Flags, from the lowest bit: `visible`, `named`, `extra`. */
const [VISIBLE, EXTRA] = [1, 4];
/** `SubtreeInlineData`, a small leaf. The bit `is_inline` comes before its flags; it is 0 in every address. */
const INLINE = 1;

/** Members of `TSLanguage`. */
const [SYMBOL_COUNT, ALIAS_COUNT, PRODUCTION_COUNT, FIELD_COUNT, MAX_ALIASES] = [1, 2, 7, 8, 9];
const [FIELD_SLICES, FIELD_ENTRIES, PUBLIC_SYMBOLS, ALIAS_SEQUENCES] = [16, 17, 19, 21];

/** What a grammar says of a node's children, for each production (each way to form a node). */
export interface Productions {
  /** Number of columns in each row of the tables: the most children that a row describes. */
  width: number;
  /** The symbol that a child gets in a production in place of its own, or 0. */
  aliases: Uint16Array;
  fields: Uint16Array;
  /** The public node type of each symbol. Several symbols of the parser may be the same type. */
  types: Uint16Array;
}

/** The word at an offset of the memory. */
const wordAt = (memory: Int32Array, place: number): number => memory[place] ?? 0;

/** Reads the tables of a loaded grammar. */
export function readProductions(language: Language, { HEAP32: memory }: ParserMemory): Productions {
  const self: number = Reflect.get(language, 0) / 4;
  const readMember = (place: number): number => wordAt(memory, self + place);
  const halvesAt = (address: number, length: number) =>
    new Uint16Array(memory.buffer.slice(address, address + length * 2));
  const width = readMember(MAX_ALIASES) & 0xffff;
  const rows = readMember(PRODUCTION_COUNT);
  const fields = new Uint16Array(rows * width);
  for (let row = 0; row < rows && readMember(FIELD_COUNT) > 0; row++) {
    // `TSMapSlice`: offset and number of the row's entries. They are read in reverse, so that the first entry wins.
    const slice = wordAt(memory, readMember(FIELD_SLICES) / 4 + row);
    const entries = readMember(FIELD_ENTRIES) / 4 + (slice & 0xffff);
    for (let i = (slice >>> 16) - 1; i >= 0; i--) {
      // The members of `TSFieldMapEntry`: `field_id`, `child_index`, `inherited`.
      const entry = wordAt(memory, entries + i);
      const isInherited = entry >>> 24 > 0;
      if (!isInherited) fields[row * width + ((entry >>> 16) & 0xff)] = entry & 0xffff;
    }
  }
  const aliases = halvesAt(readMember(ALIAS_SEQUENCES), rows * width);
  const types = halvesAt(readMember(PUBLIC_SYMBOLS), readMember(SYMBOL_COUNT) + readMember(ALIAS_COUNT));
  return { width, aliases, types, fields };
}

/** Number of integers that are saved for a level of the tree while a deeper level is read. */
const LEVEL = 6;

/**
 * Appends the nodes of a tree that are kept. It is not recursive, so that deeply nested source cannot overflow the
 * stack.
 * @param keep by node type: 2 keeps the node and its children, 1 the node alone, 0 nothing
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
  // The current level: the children of one node, from `at` to `end`. The root is alone on its level.
  let at: number = Reflect.get(tree, 0) / 4;
  let end = at + SUBTREE_WORDS;
  /** The row of the tables that describes these children. */
  let row = 0;
  /** The column of the next child in that row. Comments and other extras do not count. */
  let column = 0;
  /** The field of an invisible node, which its children inherit. */
  let handedDown = 0;
  /** The nearest node above that was appended. */
  let parent = -1;
  /** Where the part that was read so far ends, in bytes; a character has two. */
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
      // From the lowest byte: flags, `symbol`, two bytes of `parse_state`; then two other bytes, `padding_bytes`,
      // `size_bytes`.
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
    // A node's children are stored before its data. The padding before the first child is the padding before the node.
    at = data - children * SUBTREE_WORDS;
    end = data;
    row = (wordAt(memory, data + PRODUCTION_ID) >>> 16) * width;
    column = 0;
    handedDown = isVisible ? 0 : field;
    parent = node;
  }
}
