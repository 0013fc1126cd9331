/**
 * Full-text search over symbols: names and paths split into words (camelCase, snake_case), signatures, docs. SQLite
 * FTS5 with BM25; the rank adds what the graph knows (exact names, how much a symbol is used). A file's nodes have rows of
 * their own, side by side, so that an index is carried over and only changed files' rows are written.
 */
import { copyFileSync, existsSync } from "node:fs";
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

/** Rows of files that are gone may be as many as the others before the index is made anew. */
const MAX_STALE = 2;

/** Which rows a file's nodes have: the file itself, then its symbols in their order. */
interface FileRows {
  path: string;
  first: number;
  count: number;
}

/**
 * Writes the index of a graph to a new file.
 * @param before an index of the same files but for those whose paths are in `changed`, to start from.
 */
export function writeSearchIndex(
  path: string,
  graph: CodeGraph,
  before?: { path: string; changed: ReadonlySet<string> },
): void {
  const started = before !== undefined && existsSync(before.path);
  if (started) copyFileSync(before.path, path);
  const database = new Database(path);
  try {
    database.pragma("journal_mode = OFF");
    database.pragma("synchronous = OFF");
    database.transaction(() => {
      const kept = started ? keepRows(database, graph, before.changed) : undefined;
      addRows(database, graph, kept ?? startAnew(database));
    })();
  } finally {
    database.close();
  }
}

/** Files whose rows stand, and the first free row. */
interface Kept {
  paths: Set<string>;
  next: number;
}

function startAnew(database: Database.Database): Kept {
  database.exec(`DROP TABLE IF EXISTS symbol; DROP TABLE IF EXISTS file;
    CREATE TABLE file(path TEXT PRIMARY KEY, first INTEGER, count INTEGER);
    CREATE VIRTUAL TABLE symbol USING fts5(name, words, path, text, content='', contentless_delete=1, tokenize='unicode61')`);
  return { paths: new Set(), next: 1 };
}

/** Removes the rows of changed and deleted files; undefined when the index is better made anew. */
function keepRows(database: Database.Database, graph: CodeGraph, changed: ReadonlySet<string>): Kept | undefined {
  const files = database.prepare<[], FileRows>("SELECT path, first, count FROM file").all();
  const there = new Set(graph.nodes.qualified.slice(0, graph.languages.length));
  const next = files.reduce((most, { first, count }) => Math.max(most, first + count), 1);
  if (next > MAX_STALE * graph.nodeCount) return undefined;
  const removeRows = database.prepare("DELETE FROM symbol WHERE rowid >= ? AND rowid < ?");
  const removeFile = database.prepare("DELETE FROM file WHERE path = ?");
  const paths = new Set<string>();
  for (const { path, first, count } of files) {
    if (there.has(path) && !changed.has(path)) paths.add(path);
    else {
      removeRows.run(first, first + count);
      removeFile.run(path);
    }
  }
  return { paths, next };
}

function addRows(database: Database.Database, graph: CodeGraph, kept: Kept): void {
  const insertFile = database.prepare("INSERT INTO file(path, first, count) VALUES (?, ?, ?)");
  const insert = database.prepare("INSERT INTO symbol(rowid, name, words, path, text) VALUES (?, ?, ?, ?, ?)");
  const { symbolRows } = graph;
  const { name, qualified, signature, doc } = graph.nodes;
  let next = kept.next;
  for (let file = 0; file < graph.languages.length; file++) {
    const path = qualified[file]!;
    if (kept.paths.has(path)) continue;
    const [first, count] = [symbolRows.first[file]!, symbolRows.count[file]!];
    const pathWords = wordsOf(path).join(" ");
    insertFile.run(path, next, count + 1);
    insert.run(next++, name[file]!.toLowerCase(), wordsOf(name[file]!).join(" "), pathWords, "");
    for (let node = first; node < first + count; node++, next++) {
      if (graph.label(node) === "Import") continue;
      const text = `${wordsOf(signature[node]!).join(" ")} ${doc[node]!}`;
      insert.run(next, name[node]!.toLowerCase(), wordsOf(qualified[node]!).join(" "), pathWords, text);
    }
  }
}

/** The node of each row of an index; -1 for rows that are gone. */
function nodesByRow(database: Database.Database, graph: CodeGraph): Int32Array {
  const files = database.prepare<[], FileRows>("SELECT path, first, count FROM file").all();
  const nodes = new Int32Array(files.reduce((most, { first, count }) => Math.max(most, first + count), 1)).fill(-1);
  const rowOf = new Map(graph.nodes.qualified.slice(0, graph.languages.length).map((path, row) => [path, row]));
  const { symbolRows } = graph;
  for (const { path, first, count } of files) {
    const file = rowOf.get(path);
    if (file === undefined) continue;
    nodes[first] = file;
    for (let i = 1; i < count; i++) nodes[first + i] = symbolRows.first[file]! + i - 1;
  }
  return nodes;
}

/** Opens an index for reading. Throws when the file is not one. */
export function openSearchIndex(path: string, graph: CodeGraph): SearchIndex {
  const database = new Database(path, { readonly: true, fileMustExist: true });
  const statement = database.prepare<[string, number], { rowid: number; rank: number }>(
    "SELECT rowid, bm25(symbol, 10.0, 5.0, 1.5, 1.0) AS rank FROM symbol WHERE symbol MATCH ? ORDER BY rank LIMIT ?",
  );
  const nodes = nodesByRow(database, graph);
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
        const node = nodes[rowid] ?? -1;
        if (node < 0 || (wanted.size > 0 && !wanted.has(graph.nodes.label[node]!))) continue;
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
