/**
 * Full-text search over symbols: names and paths split into words (camelCase, snake_case), signatures, docs. SQLite
 * FTS5 with BM25; the rank adds what the graph knows (exact names, how much a symbol is used).
 */
import Database from "better-sqlite3";
import type { CodeGraph } from "../code-graph.ts";
import { wordsOf } from "../words.ts";

export interface SearchHit {
  node: number;
  /** Higher is better. */
  score: number;
}

export interface SearchIndex {
  /** Nodes for a query, best first. `labels` empty means all. Never throws on odd queries. */
  find(query: string, limit: number, labels: readonly number[]): SearchHit[];
  close(): void;
}

const MAX_WORDS = 12;

/** Writes the index of a graph to a new file. */
export function writeSearchIndex(path: string, graph: CodeGraph): void {
  const database = new Database(path);
  try {
    database.pragma("journal_mode = OFF");
    database.pragma("synchronous = OFF");
    database.exec("CREATE VIRTUAL TABLE symbol USING fts5(name, words, path, text, content='', tokenize='unicode61')");
    const insert = database.prepare("INSERT INTO symbol(rowid, name, words, path, text) VALUES (?, ?, ?, ?, ?)");
    database.transaction(() => {
      for (let node = 0; node < graph.nodeCount; node++) {
        const label = graph.label(node);
        if (label === "Community" || label === "Process" || label === "Folder" || label === "Import") continue;
        const name = graph.nodes.name[node]!;
        const path = label === "File" ? graph.nodes.qualified[node]! : graph.filePath(node);
        insert.run(
          node + 1,
          name.toLowerCase(),
          wordsOf(label === "File" ? name : graph.nodes.qualified[node]!).join(" "),
          wordsOf(path).join(" "),
          `${wordsOf(graph.nodes.signature[node]!).join(" ")} ${graph.nodes.doc[node]!}`,
        );
      }
    })();
  } finally {
    database.close();
  }
}

/** Opens an index for reading. Throws when the file is not one. */
export function openSearchIndex(path: string, graph: CodeGraph): SearchIndex {
  const database = new Database(path, { readonly: true, fileMustExist: true });
  const statement = database.prepare<[string, number], { rowid: number; rank: number }>(
    "SELECT rowid, bm25(symbol, 10.0, 5.0, 1.5, 1.0) AS rank FROM symbol WHERE symbol MATCH ? ORDER BY rank LIMIT ?",
  );
  const read = (match: string, limit: number) => (match === "" ? [] : statement.all(match, limit));
  return {
    find(query, limit, labels) {
      const words = [...new Set([...wordsOf(query), ...query.toLowerCase().split(/[^\p{L}\p{N}_]+/u)])]
        .filter((word) => word !== "")
        .slice(0, MAX_WORDS);
      const quoted = words.map((word) => `"${word}"`);
      const wide = Math.max(limit * 8, 100);
      const rows = read(quoted.join(" OR "), wide);
      if (rows.length < limit) rows.push(...read(quoted.map((word) => `${word}*`).join(" OR "), wide));
      const wanted = new Set(labels);
      const best = new Map<number, number>();
      for (const { rowid, rank } of rows) {
        const node = rowid - 1;
        if (node >= graph.nodeCount || (wanted.size > 0 && !wanted.has(graph.nodes.label[node]!))) continue;
        const score = -rank * weight(graph, node, query);
        if (score > (best.get(node) ?? 0)) best.set(node, score);
      }
      const hits = Array.from(best, ([node, score]) => ({ node, score }));
      return hits.sort((a, b) => b.score - a.score || a.node - b.node).slice(0, limit);
    },
    close: () => database.close(),
  };
}

/** How much a hit counts beyond its words. */
function weight(graph: CodeGraph, node: number, query: string): number {
  const name = graph.nodes.name[node]!;
  const trimmed = query.trim();
  let factor = 1;
  if (name === trimmed || graph.nodes.qualified[node] === trimmed) factor *= 6;
  else if (name.toLowerCase() === trimmed.toLowerCase()) factor *= 4;
  const label = graph.label(node);
  if (label === "Function" || label === "Method" || label === "Class" || label === "Interface") factor *= 1.3;
  if (label === "File" || label === "Property" || label === "Variable") factor *= 0.7;
  if (graph.nodes.exported[node] === 1) factor *= 1.1;
  return factor * (1 + Math.log1p(graph.incoming(node).length) / 12);
}
