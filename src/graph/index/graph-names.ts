/** Finds symbols by name in the graph before an edit, so that no unchanged file's facts are read. */
import type { CodeGraph } from "../code-graph.ts";
import { SymbolFlag } from "../language/fact-layout.ts";
import { REFERENCE_LABELS } from "../model.ts";
import { addSymbolsNamed, type NamedSymbol, type SymbolsNamed } from "../resolve/names/symbols-named.ts";
import type { SourceFile } from "../resolve/repository.ts";
import { rowAfter, type SymbolRow } from "../rows.ts";

interface Named {
  /** The graph before the edit. Each symbol of its files is a node of its own. */
  graph: CodeGraph;
  /** First symbol node of each file, and one more entry: the end of the last file. */
  first: Int32Array;
  /** The files after the edit. `changed` holds the rows of those that the edit changed. */
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
    for (const node of name === "" ? [] : graph.findByName(name)) {
      const file = graph.nodes.file[node] ?? -1;
      const [source, start] = [sources[file], first[file]];
      // Skips files, folders, clusters and flows, and symbols of changed files.
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

/** The row of a file's nth symbol that has a node, counted from 0. */
function findVisibleRow({ facts }: SourceFile, number: number): SymbolRow {
  const { symbols } = facts.read();
  let row = symbols.first;
  for (let left = number; row < symbols.length; row = rowAfter(row))
    if (!(symbols.flags(row) & SymbolFlag.Hidden) && left-- === 0) break;
  return row;
}
