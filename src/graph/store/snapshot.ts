/** The graph as one file, and back. */
import {
  CodeGraph,
  type Community,
  type EdgeColumns,
  type Process,
  type SymbolRows,
  symbolRowsOf,
} from "../code-graph.ts";
import { EDGE_TYPES } from "../model.ts";
import { type Column, packColumns, readColumns } from "./columns.ts";

/** Raise it whenever the meaning of a snapshot changes: older ones are then rebuilt. */
export const SNAPSHOT_FORMAT = 3;

const BELONGS_TO = EDGE_TYPES.indexOf("BELONGS_TO");
const PARTICIPATES_IN = EDGE_TYPES.indexOf("PARTICIPATES_IN");

interface Meta {
  format: number;
  communities: Community[];
  processes: Process[];
}

export function packGraph(graph: CodeGraph): Uint8Array {
  const { nodes, edges } = graph;
  const columns = new Map<string, Column>([
    ["label", nodes.label],
    ["exported", nodes.exported],
    ["file", nodes.file],
    ["startLine", nodes.startLine],
    ["endLine", nodes.endLine],
    ["ordinal", nodes.ordinal],
    ["name", clean(nodes.name)],
    ["qualified", clean(nodes.qualified)],
    ["signature", clean(nodes.signature)],
    ["doc", clean(nodes.doc)],
    ["type", edges.type],
    ["reason", edges.reason],
    ["from", edges.from],
    ["to", edges.to],
    ["line", edges.line],
    ["languages", graph.languages],
    ["found", graph.found],
  ]);
  const meta: Meta = { format: SNAPSHOT_FORMAT, communities: graph.communities, processes: graph.processes };
  return packColumns(columns, meta);
}

function clean(texts: readonly string[]): string[] {
  return texts.map((text) => (text.includes("\u0000") ? text.replaceAll("\u0000", "") : text));
}

/** Reads a snapshot; undefined when it is of another format, broken or cut short. */
export function unpackGraph(packed: Uint8Array): CodeGraph | undefined {
  try {
    const reader = readColumns(packed);
    const meta = reader?.meta as Meta | undefined;
    if (!reader || meta?.format !== SNAPSHOT_FORMAT) return undefined;
    const nodes = {
      label: reader.bytes("label"),
      exported: reader.bytes("exported"),
      file: reader.ints("file"),
      startLine: reader.ints("startLine"),
      endLine: reader.ints("endLine"),
      ordinal: reader.ints("ordinal"),
      name: reader.strings("name"),
      qualified: reader.strings("qualified"),
      signature: reader.strings("signature"),
      doc: reader.strings("doc"),
    };
    const edges = {
      type: reader.bytes("type"),
      reason: reader.bytes("reason"),
      from: reader.ints("from"),
      to: reader.ints("to"),
      line: reader.ints("line"),
    };
    const graph = new CodeGraph(nodes, edges, reader.strings("languages"), reader.ints("found"));
    graph.communities = meta.communities;
    graph.processes = meta.processes;
    return graph;
  } catch {
    return undefined;
  }
}

/** What resolution found in each file of a snapshot, without reading the rest of it. */
export interface FoundEdges extends EdgeColumns {
  /** First edge of each file, and the end of the last. */
  start: Int32Array;
  symbolRows: SymbolRows;
  nodeCount: number;
}

/** @returns undefined when the snapshot cannot be read. */
export function readFoundEdges(packed: Uint8Array): FoundEdges | undefined {
  try {
    const reader = readColumns(packed);
    if (!reader || (reader.meta as Meta).format !== SNAPSHOT_FORMAT) return undefined;
    const type = reader.bytes("type");
    const found = reader.ints("found");
    const file = reader.ints("file");
    let end = found.at(-1) ?? 0;
    while (end < type.length && type[end] !== BELONGS_TO && type[end] !== PARTICIPATES_IN) end++;
    return {
      type,
      reason: reader.bytes("reason"),
      from: reader.ints("from"),
      to: reader.ints("to"),
      line: reader.ints("line"),
      start: Int32Array.from([...found, end]),
      symbolRows: symbolRowsOf(file, found.length),
      nodeCount: file.length,
    };
  } catch {
    return undefined;
  }
}
