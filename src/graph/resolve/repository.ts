/**
 * All files of a repository with their facts, and the indexes that resolution needs: bindings by scope and name,
 * children of symbols, name spaces. A symbol's number in the repository is its file's base plus its row.
 */

import { BindingKind, SymbolFlag } from "../language/fact-layout.ts";
import type { FileFacts, SourceFacts } from "../language/facts.ts";
import type { LanguageModule } from "../language/language.ts";
import type { SymbolColumn, SymbolValue } from "../language/tables/symbols.ts";
import { REFERENCE_LABELS, SYMBOL_LABELS, type SymbolLabel } from "../model.ts";
import {
  asRows,
  type BindingRow,
  exists,
  isNone,
  type NameRow,
  NONE,
  NOTHING,
  type Rows,
  rowAfter,
  rowAt,
  type ScopeRow,
  type SymbolRow,
} from "../rows.ts";
import { RowIndex } from "./names/row-index.ts";

export interface SourceFile {
  /** Relative to the repository, forward slashes. */
  path: string;
  language: LanguageModule;
  facts: SourceFacts;
}

type NameIndex = Map<string, number[]>;

interface BoundNames {
  /** Binding rows by scope and name. */
  rows: RowIndex;
  /** 1 for each name row that some scope of the file binds. */
  isBound: Uint8Array;
}

interface ChildRows {
  start: Int32Array;
  rows: Rows<SymbolRow>;
}

/** If a symbol has more children than this, lookups among them use an index. */
const MANY_CHILDREN = 24;

/** Appends to a list in a map of lists. */
export function pushTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

const REFERENCES = new Set(SYMBOL_LABELS.flatMap((label, row) => (REFERENCE_LABELS.has(label) ? [row] : [])));

/** Whether a label (a row of SYMBOL_LABELS) is that of an import or a decorator, which declare nothing. */
export const isReference = (label: number): boolean => REFERENCES.has(label);

/** A random seed, so that nobody can construct many texts with the same hash, which would slow down every lookup. */
const SEED = Math.floor(Math.random() * 2 ** 32);
const hashOf = (text: string): number => Bun.hash.xxHash32(text, SEED);

const SEPARATOR = /[.\\]/;

function nextCut(space: string, after: number): number {
  const rest = space.slice(after + 1).search(SEPARATOR);
  return rest < 0 ? -1 : after + 1 + rest;
}

export class Repository {
  /** The languages of the files, in the order in which they first occur. */
  readonly languages: readonly LanguageModule[];
  /** The first symbol number of each file, and one more entry for the end. */
  readonly base: Int32Array;
  /** The file of each symbol. */
  private readonly homes: Int32Array;
  private readonly bindings: (BoundNames | undefined)[];
  private readonly children: (ChildRows | undefined)[];
  private readonly manyChildren = new Map<number, ReadonlyMap<string, readonly number[]>>();
  private readonly spaceIndex = new Map<string, NameIndex>();
  /** The name spaces that macros open, by the macro's mark. */
  private readonly spaceMacros = new Map<string, string>();
  private readonly stringRows: (RowIndex | undefined)[];

  /** @param before the repository before an edit, with the same files in the same rows; its indexes are reused */
  constructor(
    readonly files: readonly SourceFile[],
    before?: Repository,
  ) {
    this.languages = before?.languages ?? [...new Set(files.map(({ language }) => language))];
    this.base = new Int32Array(files.length + 1);
    this.bindings = before?.bindings.slice() ?? [];
    this.children = before?.children.slice() ?? [];
    this.stringRows = before?.stringRows.slice() ?? [];
    const withSpaces: number[] = [];
    for (const [file, { facts }] of files.entries()) {
      this.base[file + 1] = this.base[file]! + facts.symbolCount;
      if (facts.has("spaces")) withSpaces.push(file);
      if (before && before.files[file]?.facts !== facts) this.dropIndexes(file);
    }
    this.homes = new Int32Array(this.symbolTotal);
    for (let file = 0; file < files.length; file++) this.homes.fill(file, this.base[file], this.base[file + 1]);
    for (const file of withSpaces) this.addSpaceMacros(this.facts(file));
    for (const file of withSpaces) this.addSpaces(file);
  }

  /** A file's indexes contain only rows of that file, so they stay valid as long as its facts do. */
  private dropIndexes(file: number): void {
    this.bindings[file] = undefined;
    this.children[file] = undefined;
    this.stringRows[file] = undefined;
  }

  /** How many symbols the repository has, including hidden ones. */
  get symbolTotal(): number {
    return this.base[this.files.length]!;
  }

  /** The file that a symbol is in. */
  fileOf(symbol: number): number {
    return this.homes[symbol]!;
  }

  facts(file: number): FileFacts {
    return this.files[file]!.facts.read();
  }

  language(file: number): LanguageModule {
    return this.files[file]!.language;
  }

  rules(file: number): LanguageModule["rules"] {
    return this.files[file]!.language.rules;
  }

  pathOf(file: number): string {
    return this.files[file]!.path;
  }

  /** The number of the symbol in a row of a file. */
  symbolAt(file: number, row: SymbolRow): number {
    return this.base[file]! + row;
  }

  /** The row of a symbol in its file. */
  rowOf(symbol: number, file: number): SymbolRow {
    return rowAt(symbol - this.base[file]!);
  }

  /** The value in a column of the symbol's row. */
  column<Column extends SymbolColumn>(symbol: number, column: Column): SymbolValue<Column> {
    const file = this.fileOf(symbol);
    return this.facts(file).symbols.column(this.rowOf(symbol, file), column);
  }

  label(symbol: number): SymbolLabel {
    return SYMBOL_LABELS[this.column(symbol, "label")]!;
  }

  name(symbol: number): string {
    const file = this.fileOf(symbol);
    const facts = this.facts(file);
    return facts.strings[facts.symbols.name(this.rowOf(symbol, file))]!;
  }

  flags(symbol: number): number {
    return this.column(symbol, "flags");
  }

  has(symbol: number, flag: number): boolean {
    return (this.column(symbol, "flags") & flag) !== 0;
  }

  /** The enclosing symbol; -1 if there is none. */
  parent(symbol: number): number {
    const file = this.fileOf(symbol);
    const row = this.facts(file).symbols.parent(this.rowOf(symbol, file));
    return isNone(row) ? -1 : this.symbolAt(file, row);
  }

  private nameKey(file: number, name: string): string {
    return this.rules(file).ignoreCase ? name.toLowerCase() : name;
  }

  /** Whether any scope of a file binds a name. */
  isBound(file: number, name: NameRow): boolean {
    const { isBound } = this.bindings[file] ?? this.indexBindings(file);
    return isBound[name] === 1;
  }

  /** Binding rows of a name in one scope. `name` is a row of the file's strings. */
  bindingsOf(file: number, scope: ScopeRow, name: NameRow): readonly BindingRow[] {
    const { bindings: table, strings } = this.facts(file);
    const { rows } = this.bindings[file] ?? this.indexBindings(file);
    let found: BindingRow[] | undefined;
    for (let at = rows.firstOf(scope * strings.length + name); exists(at); at = rows.after(at)) {
      const row = rowAt<BindingRow>(at);
      if (table.scope(row) !== scope || table.name(row) !== name) continue;
      if (found) found.push(row);
      else found = [row];
    }
    return found ?? NOTHING;
  }

  /** Separate from the lookups: a closure inside them would cost at each call, even if it is not created. */
  private indexBindings(file: number): BoundNames {
    const { bindings: table, strings } = this.facts(file);
    const isBound = new Uint8Array(strings.length);
    const keyOf = (at: BindingRow) => {
      isBound[table.name(at)] = 1;
      return table.scope(at) * strings.length + table.name(at);
    };
    const index = { rows: new RowIndex(table.length, (row) => keyOf(rowAt(row))), isBound };
    this.bindings[file] = index;
    return index;
  }

  /** The row of a text in the file's strings; none if the file does not contain the text. */
  stringRow(file: number, text: string): NameRow {
    const { strings } = this.facts(file);
    const index = this.stringRows[file] ?? this.indexStrings(file);
    let row = index.firstOf(hashOf(text));
    while (exists(row) && strings[row] !== text) row = index.after(row);
    return rowAt(row);
  }

  private indexStrings(file: number): RowIndex {
    const { strings } = this.facts(file);
    const index = new RowIndex(strings.length, (row) => hashOf(strings[row]!));
    this.stringRows[file] = index;
    return index;
  }

  /** Symbols with a name that are declared directly under a symbol, including hidden members of objects. */
  childrenNamed(symbol: number, name: string): readonly number[] {
    const file = this.fileOf(symbol);
    const { start, rows } = this.childRows(file);
    const row = this.rowOf(symbol, file);
    const [from, to] = [start[row]!, start[row + 1]!];
    if (from === to) return NOTHING;
    if (to - from > MANY_CHILDREN || this.rules(file).ignoreCase)
      return this.indexOfMany(symbol).get(this.nameKey(file, name)) ?? NOTHING;
    const { symbols, strings } = this.facts(file);
    let found: number[] | undefined;
    for (let at = from; at < to; at++) {
      if (strings[symbols.name(rows[at]!)] !== name) continue;
      found ??= [];
      found.push(this.symbolAt(file, rows[at]!));
    }
    return found ?? NOTHING;
  }

  /** All symbols that are declared directly under a symbol, by name. */
  childrenOf(symbol: number): ReadonlyMap<string, readonly number[]> {
    const file = this.fileOf(symbol);
    const { start, rows } = this.childRows(file);
    const { symbols, strings } = this.facts(file);
    const row = this.rowOf(symbol, file);
    const names: NameIndex = new Map();
    for (let at = start[row]!; at < start[row + 1]!; at++) {
      const name = strings[symbols.name(rows[at]!)]!;
      pushTo(names, this.nameKey(file, name), this.symbolAt(file, rows[at]!));
    }
    return names;
  }

  /** `childrenOf`, kept in memory: for symbols with so many children that scanning them is slower. */
  private indexOfMany(symbol: number): ReadonlyMap<string, readonly number[]> {
    let index = this.manyChildren.get(symbol);
    if (!index) {
      index = this.childrenOf(symbol);
      this.manyChildren.set(symbol, index);
    }
    return index;
  }

  /** The named symbols under each symbol of a file: those of row n are `rows[start[n]] … rows[start[n + 1] - 1]`. */
  private childRows(file: number): ChildRows {
    return this.children[file] ?? this.indexChildren(file);
  }

  private indexChildren(file: number): ChildRows {
    const { symbols, strings } = this.facts(file);
    const count = symbols.length;
    const start = new Int32Array(count + 1);
    const parentOf = (row: SymbolRow) => {
      const named = strings[symbols.name(row)] !== "" && !isReference(symbols.label(row));
      return named ? symbols.parent(row) : NONE;
    };
    for (let row = symbols.first; row < count; row = rowAfter(row))
      if (exists(parentOf(row))) start[parentOf(row) + 1]!++;
    for (let row = 0; row < count; row++) start[row + 1]! += start[row]!;
    const next = start.slice(0, count);
    const rows = new Int32Array(start[count]!);
    for (let row = symbols.first; row < count; row = rowAfter(row))
      if (exists(parentOf(row))) rows[next[parentOf(row)]!++] = row;
    const found = { start, rows: asRows<SymbolRow>(rows) };
    this.children[file] = found;
    return found;
  }

  private addSpaceMacros(facts: FileFacts): void {
    for (let row = 0; row < facts.spaces.length; row++) {
      if (exists(facts.spaces.scope(row))) continue;
      const [macro = "", space = ""] = facts.strings[facts.spaces.name(row)]!.split("=");
      if (!this.spaceMacros.has(macro)) this.spaceMacros.set(macro, space);
    }
  }

  /** The name of a name space; "" if an unknown macro opens it, or if the row only defines such a macro. */
  private spaceName(facts: FileFacts, row: number): string {
    const name = facts.strings[facts.spaces.name(row)]!;
    if (isNone(facts.spaces.scope(row))) return "";
    if (!name.startsWith("#")) return name;
    const cut = name.indexOf(".");
    const outer = this.spaceMacros.get(cut < 0 ? name : name.slice(0, cut)) ?? "";
    const inner = cut < 0 ? "" : name.slice(cut + 1);
    return outer === "" || inner === "" ? outer + inner : `${outer}.${inner}`;
  }

  private addSpaces(file: number): void {
    const facts = this.facts(file);
    const spaceOf = new Map<number, string[]>();
    for (let row = 0; row < facts.spaces.length; row++) {
      const name = this.spaceName(facts, row);
      if (name !== "") pushTo(spaceOf, facts.spaces.scope(row), name);
    }
    const table = facts.bindings;
    for (let row = table.first; row < table.length; row = rowAfter(row)) {
      if (table.kind(row) !== BindingKind.Symbol) continue;
      const spaces = spaceOf.get(table.scope(row));
      if (!spaces) continue;
      const symbol = table.symbol(row);
      if (facts.symbols.flags(symbol) & SymbolFlag.FileLocal) continue;
      const name = this.nameKey(file, facts.strings[table.name(row)]!);
      for (const space of spaces) {
        let names = this.spaceIndex.get(space);
        if (!names) {
          names = new Map();
          this.spaceIndex.set(space, names);
        }
        pushTo(names, name, this.symbolAt(file, symbol));
      }
    }
    for (const spaces of spaceOf.values())
      for (const space of spaces) {
        if (!this.spaceIndex.has(space)) this.spaceIndex.set(space, new Map());
        // `a.b.c` also makes `a` and `a.b` name spaces.
        for (let cut = space.search(SEPARATOR); cut > 0; cut = nextCut(space, cut))
          if (!this.spaceIndex.has(space.slice(0, cut))) this.spaceIndex.set(space.slice(0, cut), new Map());
      }
  }

  /** Whether a symbol is declared directly in a file or name space, not in a type or function. */
  isTopLevel(symbol: number): boolean {
    const parent = this.parent(symbol);
    return parent < 0 || this.label(parent) === "Namespace";
  }

  /** The name spaces whose names a scope shares. */
  spacesAt(file: number, scope: ScopeRow): readonly string[] {
    const facts = this.facts(file);
    const found: string[] = [];
    for (let row = 0; row < facts.spaces.length; row++) {
      const name = facts.spaces.scope(row) === scope ? this.spaceName(facts, row) : "";
      if (name !== "") found.push(name);
    }
    return found;
  }

  /** The name space that is opened by the symbol's own scope, or undefined. */
  spaceOf(symbol: number): string | undefined {
    const file = this.fileOf(symbol);
    const facts = this.facts(file);
    const inner = this.column(symbol, "inner");
    for (let row = 0; row < facts.spaces.length; row++)
      if (facts.spaces.scope(row) === inner) return this.spaceName(facts, row) || undefined;
    return undefined;
  }

  /** Symbols with a name in a name space. `file` decides whether case is ignored. */
  inSpace(space: string, name: string, file: number): readonly number[] {
    return this.spaceIndex.get(space)?.get(this.nameKey(file, name)) ?? NOTHING;
  }

  spaceExists(space: string): boolean {
    return this.spaceIndex.has(space);
  }

  /** Whether this repository has exactly the same name spaces as another one. */
  hasSpacesOf({ spaceIndex }: Repository): boolean {
    return this.spaceIndex.size === spaceIndex.size && [...spaceIndex.keys()].every((space) => this.spaceExists(space));
  }
}
