/** Finds symbols by name, for lookups that neither scopes nor imports answer. */
import { SymbolFlag } from "../../language/fact-layout.ts";
import type { FileFacts } from "../../language/facts.ts";
import { type NodeLabel, SYMBOL_LABELS } from "../../model.ts";
import { exists, NONE, rowAfter, type SymbolRow } from "../../rows.ts";
import { isReference, pushTo, type Repository } from "../repository.ts";

export interface NamedSymbol {
  file: number;
  label: NodeLabel;
  /** The symbol's row in its file. Finding it may read the file's facts. */
  findRow(): SymbolRow;
}

/** Returns the symbols with a name that declare something and are not hidden, ordered by file and row. */
export type SymbolsNamed = (name: string) => readonly NamedSymbol[];

/**
 * Symbols by name, as linked lists: `first` holds the first of each name, `next` the next with the same name; `NONE`
 * ends.
 */
interface NameIndex {
  first: ReadonlyMap<string, number>;
  next: Int32Array;
}

/** @returns a lookup that reads the names of all files when it is first called */
export function createSymbolsNamed(repo: Repository): SymbolsNamed {
  let index: NameIndex | undefined;
  return (name) => {
    index ??= indexNames(repo);
    const found: NamedSymbol[] = [];
    for (let symbol = index.first.get(name) ?? NONE; exists(symbol); symbol = index.next[symbol] ?? NONE) {
      const file = repo.fileOf(symbol);
      found.push(namedSymbol(repo.facts(file), file, repo.rowOf(symbol, file)));
    }
    return found;
  };
}

function indexNames(repo: Repository): NameIndex {
  const first = new Map<string, number>();
  const next = new Int32Array(repo.symbolTotal).fill(NONE);
  // From the last to the first, so that each list is in ascending order.
  for (let file = repo.files.length - 1; file >= 0; file--) {
    const facts = repo.facts(file);
    for (const row of namedRows(facts).reverse()) {
      const symbol = repo.symbolAt(file, row);
      const name = nameAt(facts, row);
      next[symbol] = first.get(name) ?? NONE;
      first.set(name, symbol);
    }
  }
  return { first, next };
}

/** Adds the named symbols of one file. */
export function addSymbolsNamed(facts: FileFacts, file: number, into: Map<string, NamedSymbol[]>): void {
  for (const row of namedRows(facts)) pushTo(into, nameAt(facts, row), namedSymbol(facts, file, row));
}

function namedRows(facts: FileFacts): SymbolRow[] {
  const { symbols } = facts;
  const rows: SymbolRow[] = [];
  for (let row = symbols.first; row < symbols.length; row = rowAfter(row))
    if (nameAt(facts, row) !== "" && !(symbols.flags(row) & SymbolFlag.Hidden) && !isReference(symbols.label(row)))
      rows.push(row);
  return rows;
}

const nameAt = ({ symbols, strings }: FileFacts, row: SymbolRow): string => strings[symbols.name(row)] ?? "";

function namedSymbol({ symbols }: FileFacts, file: number, row: SymbolRow): NamedSymbol {
  return { file, label: SYMBOL_LABELS[symbols.label(row)] ?? "Variable", findRow: () => row };
}
