/** Symbols by name, from the graph before an edit: no file's facts are read to find them. */
import type { CodeGraph } from "../code-graph.ts";
import { SymbolFlag } from "../language/fact-layout.ts";
import { REFERENCE_LABELS } from "../model.ts";
import { addSymbolsNamed, type NamedSymbol, type SymbolsNamed } from "../resolve/names/symbols-named.ts";
import type { SourceFile } from "../resolve/repository.ts";
import { rowAfter, type SymbolRow } from "../rows.ts";

interface Named {
  /** Its symbols are those of the files before the edit, each a node of its own. */
  graph: CodeGraph;
  /** First symbol node of each file, and the end of the last. */
  first: Int32Array;
  /** The files after the edit, and the rows of those that it changed. */
  sources: readonly SourceFile[];
  changed: readonly number[];
}

export function symbolsNamedBy({ graph, first, sources, changed }: Named): SymbolsNamed {
  const isChanged = new Set(changed);
  let own: Map<string, NamedSymbol[]> | undefined;
  const readChanged = () => {
    const names = new Map<string, NamedSymbol[]>();
    for (const file of changed) {
      const source = sources[file];
      if (source) addSymbolsNamed(source.facts.read(), file, names);
    }
    return names;
  };
  return (name) => {
    const found: NamedSymbol[] = [];
    for (const node of name === "" ? [] : graph.named(name)) {
      const file = graph.nodes.file[node] ?? -1;
      const [source, start] = [sources[file], first[file]];
      // Not a file, a folder, a cluster or a flow.
      if (!source || start === undefined || node < start || isChanged.has(file)) continue;
      const label = graph.label(node);
      if (REFERENCE_LABELS.has(label)) continue;
      found.push({ file, label, findRow: () => findVisibleRow(source, node - start) });
    }
    own ??= readChanged();
    found.push(...(own.get(name) ?? []));
    return found.sort((a, b) => a.file - b.file);
  };
}

/** The row of a file's symbol by its number among those that have nodes. */
function findVisibleRow({ facts }: SourceFile, number: number): SymbolRow {
  const { symbols } = facts.read();
  let row = symbols.first;
  for (let left = number; row < symbols.length; row = rowAfter(row))
    if (!(symbols.flags(row) & SymbolFlag.Hidden) && left-- === 0) break;
  return row;
}
