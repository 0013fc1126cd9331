/**
 * The only file that knows Kuzu. A database is written once from a graph (bulk load, integer keys) and then opened
 * read-only. It is derived from the snapshot and can be made again at any time.
 *
 * Every query result is closed. Databases stay open until the process ends: the worker exits without running
 * destructors.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import kuzu from "kuzu";
import type { CodeGraph } from "../code-graph.ts";
import { CONFIDENCE, EDGE_TYPES, type EdgeType, NODE_LABELS, REASONS } from "../model.ts";

const BUFFER_BYTES = 64 * 1024 * 1024;
/** Limit of the address space that Kuzu maps, bytes. Its default of 8 TiB fails in containers. */
const MAX_DATABASE_BYTES = 16 * 1024 * 1024 * 1024;
const THREADS = 1;

const SYMBOL_COLUMNS =
  "key INT64 PRIMARY KEY, id STRING, name STRING, qualified_name STRING, file_path STRING, start_line INT64, end_line INT64, language STRING, exported BOOLEAN, signature STRING, doc STRING";
const COMMUNITY_COLUMNS =
  "key INT64 PRIMARY KEY, id STRING, name STRING, label STRING, cohesion DOUBLE, symbol_count INT64";
const PROCESS_COLUMNS =
  "key INT64 PRIMARY KEY, id STRING, name STRING, label STRING, kind STRING, step_count INT64, entry_id STRING, terminal_id STRING";
const EDGE_COLUMNS: Partial<Record<EdgeType, string>> = {
  CALLS: ", confidence DOUBLE, reason STRING, line INT64",
  MAY_CALL: ", confidence DOUBLE, reason STRING, line INT64",
  PARTICIPATES_IN: ", step INT64",
};
const FOUND_COLUMNS = ", confidence DOUBLE, reason STRING";

/**
 * Labels that edges of a type commonly connect. They are declared even if the repository has no such edge, so that a
 * query about them is not an error.
 */
const USUAL_PAIRS: readonly [string, string, string][] = [
  ["CALLS", "Function", "Function"],
  ["CALLS", "Function", "Method"],
  ["CALLS", "Method", "Function"],
  ["CALLS", "Method", "Method"],
  ["CALLS", "Function", "Class"],
  ["CALLS", "Method", "Class"],
  ["CALLS", "File", "Function"],
  ["MAY_CALL", "Function", "Method"],
  ["MAY_CALL", "Method", "Method"],
  ["MAY_CALL", "File", "Method"],
  ["CONTAINS", "Folder", "Folder"],
  ["CONTAINS", "Folder", "File"],
  ["CONTAINS", "File", "Function"],
  ["CONTAINS", "File", "Class"],
  ["CONTAINS", "Class", "Method"],
  ["CONTAINS", "File", "Import"],
  ["CONTAINS", "Class", "Decorator"],
  ["CONTAINS", "Function", "Decorator"],
  ["CONTAINS", "Method", "Decorator"],
  ["DEFINED_IN", "Decorator", "File"],
  ["DEFINED_IN", "Import", "File"],
  ["DEFINED_IN", "Function", "File"],
  ["DEFINED_IN", "Class", "File"],
  ["DEFINED_IN", "Method", "File"],
  ["IMPORTS", "File", "File"],
  ["IMPORTS", "File", "Function"],
  ["IMPORTS", "File", "Class"],
  ["IMPORTS", "Import", "File"],
  ["IMPORTS", "Import", "Function"],
  ["IMPORTS", "Import", "Class"],
  ["USES", "Decorator", "Function"],
  ["USES", "Decorator", "Class"],
  ["USES", "Function", "Class"],
  ["USES", "Function", "Interface"],
  ["USES", "Method", "Class"],
  ["EXTENDS", "Class", "Class"],
  ["EXTENDS", "Interface", "Interface"],
  ["IMPLEMENTS", "Class", "Interface"],
  ["BELONGS_TO", "Function", "Community"],
  ["BELONGS_TO", "Method", "Community"],
  ["BELONGS_TO", "Class", "Community"],
  ["PARTICIPATES_IN", "Function", "Process"],
  ["PARTICIPATES_IN", "Method", "Process"],
];

interface KuzuAnswer {
  columns: string[];
  rows: unknown[][];
  truncated: boolean;
}

export interface KuzuReader {
  /** Runs a query that was checked to be read-only. At most `limit` rows are read. Throws with Kuzu's message. */
  query(text: string, params: Readonly<Record<string, unknown>>, limit: number): Promise<KuzuAnswer>;
}

function open(path: string, readOnly: boolean) {
  const database = new kuzu.Database(path, BUFFER_BYTES, true, readOnly, MAX_DATABASE_BYTES, false);
  database.initSync();
  const connection = new kuzu.Connection(database, THREADS);
  connection.initSync();
  return { database, connection };
}

interface Closable {
  close(): void;
}

function closeResult(result: Closable | Closable[]): void {
  for (const one of Array.isArray(result) ? result : [result]) one.close();
}

const quoteCsv = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Writes the graph as a new Kuzu database at a path that does not exist yet. */
export function writeKuzu(path: string, graph: CodeGraph): void {
  const scratch = mkdtempSync(join(dirname(path), "csv-"));
  const { database, connection } = open(path, false);
  const run = (statement: string) => closeResult(connection.querySync(statement));
  try {
    const tables = writeNodeFiles(scratch, graph);
    for (const label of NODE_LABELS) {
      const columns =
        label === "Community" ? COMMUNITY_COLUMNS : label === "Process" ? PROCESS_COLUMNS : SYMBOL_COLUMNS;
      run(`CREATE NODE TABLE \`${label}\`(${columns})`);
      if (tables.has(label))
        run(`COPY \`${label}\` FROM '${tables.get(label)}' (HEADER=false, PARALLEL=false, ESCAPE='"')`);
    }
    const pairs = writeEdgeFiles(scratch, graph);
    for (const type of EDGE_TYPES) {
      const own = pairs.get(type) ?? new Map<string, string>();
      const declared = new Set([
        ...own.keys(),
        ...USUAL_PAIRS.filter(([name]) => name === type).map(([, a, b]) => `${a} ${b}`),
      ]);
      const ends = [...declared].map((pair) => pair.split(" ")).map(([a, b]) => `FROM \`${a}\` TO \`${b}\``);
      const found = /^(IMPORTS|USES|EXTENDS|IMPLEMENTS)$/.test(type) ? FOUND_COLUMNS : "";
      const extra = EDGE_COLUMNS[type] ?? found;
      run(`CREATE REL TABLE \`${type}\`(${ends.join(", ")}${extra})`);
      for (const [pair, file] of own) {
        const [from, to] = pair.split(" ");
        const ends = declared.size > 1 ? `, FROM='${from}', TO='${to}'` : "";
        run(`COPY \`${type}\` FROM '${file}' (HEADER=false, PARALLEL=false${ends})`);
      }
    }
    run("CHECKPOINT");
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    connection.closeSync();
    database.closeSync();
  }
}

function writeNodeFiles(folder: string, graph: CodeGraph): Map<string, string> {
  const lines = new Map<string, string[]>();
  const push = (label: string, line: string) => {
    const list = lines.get(label);
    if (list) list.push(line);
    else lines.set(label, [line]);
  };
  for (let row = 0; row < graph.nodeCount; row++) {
    const node = graph.node(row);
    if (node.label === "Community" || node.label === "Process") continue;
    const texts = [node.id, node.name, node.qualified_name, node.file_path].map(quoteCsv).join();
    const path = node.label === "File" ? quoteCsv(node.qualified_name) : quoteCsv(node.file_path);
    push(
      node.label,
      node.label === "File"
        ? `${row},${quoteCsv(node.id)},${quoteCsv(node.name)},${quoteCsv(node.qualified_name)},${path},${node.start_line},${node.end_line},${node.language},${node.exported},"",""`
        : `${row},${texts},${node.start_line},${node.end_line},${node.language},${node.exported},${quoteCsv(node.signature)},${quoteCsv(node.doc)}`,
    );
  }
  for (const { node, label, cohesion, members } of graph.communities) {
    push(
      "Community",
      `${node},${quoteCsv(graph.id(node))},${quoteCsv(label)},${quoteCsv(label)},${cohesion},${members.length}`,
    );
  }
  for (const { node, label, kind, steps } of graph.processes) {
    const ends = `${quoteCsv(graph.id(steps[0]!))},${quoteCsv(graph.id(steps.at(-1)!))}`;
    push(
      "Process",
      `${node},${quoteCsv(graph.id(node))},${quoteCsv(label)},${quoteCsv(label)},${kind},${steps.length},${ends}`,
    );
  }
  return writeAll(folder, lines, "node");
}

function writeEdgeFiles(folder: string, graph: CodeGraph): Map<string, Map<string, string>> {
  const lines = new Map<string, string[]>();
  const { type, reason, from, to, line } = graph.edges;
  for (let edge = 0; edge < graph.edgeCount; edge++) {
    const name = EDGE_TYPES[type[edge]!]!;
    const key = `${name} ${graph.label(from[edge]!)} ${graph.label(to[edge]!)}`;
    const why = REASONS[reason[edge]!]!;
    let text = `${from[edge]},${to[edge]}`;
    if (name === "CALLS" || name === "MAY_CALL") text += `,${CONFIDENCE[why]},${why},${line[edge]}`;
    else if (name === "PARTICIPATES_IN") text += `,${line[edge]}`;
    else if (/^(IMPORTS|USES|EXTENDS|IMPLEMENTS)$/.test(name)) text += `,${CONFIDENCE[why]},${why}`;
    const list = lines.get(key);
    if (list) list.push(text);
    else lines.set(key, [text]);
  }
  const byType = new Map<string, Map<string, string>>();
  for (const [key, file] of writeAll(folder, lines, "edge")) {
    const [name = "", ...pair] = key.split(" ");
    const files = byType.get(name) ?? new Map<string, string>();
    files.set(pair.join(" "), file);
    byType.set(name, files);
  }
  return byType;
}

function writeAll(folder: string, lines: ReadonlyMap<string, string[]>, prefix: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const [key, list] of lines) {
    const path = join(folder, `${prefix}-${key.replaceAll(" ", "-")}.csv`);
    writeFileSync(path, `${list.join("\n")}\n`);
    files.set(key, path);
  }
  return files;
}

/** Opens a database read-only. Throws if it does not exist. */
export function openKuzu(path: string, timeoutMs: number): KuzuReader {
  const { connection } = open(path, true);
  connection.setQueryTimeout(timeoutMs);
  return {
    async query(text, params, limit) {
      const prepared = await connection.prepare(text);
      if (!prepared.isSuccess()) throw new Error(prepared.getErrorMessage());
      const result = await connection.execute(prepared, params as Record<string, never>);
      const single = Array.isArray(result) ? result.at(-1)! : result;
      try {
        const columns = await single.getColumnNames();
        const rows: unknown[][] = [];
        while (rows.length < limit && single.hasNext()) {
          const row = await single.getNext();
          if (row === null) break;
          rows.push(columns.map((column) => row[column]));
        }
        return { columns, rows, truncated: single.hasNext() };
      } finally {
        closeResult(result);
      }
    },
  };
}
