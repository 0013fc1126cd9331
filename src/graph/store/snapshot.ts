/** Packs the graph into one file, and reads it back. */
import { CodeGraph, type Community, type EdgeColumns, type Implementation, type Process } from "../code-graph.ts";
import { EDGE_TYPES } from "../model.ts";
import { Texts } from "../texts.ts";
import { type Column, packColumns, readColumns } from "./columns.ts";

/** Raise this number whenever the meaning of a snapshot changes. Older snapshots are then built again. */
export const SNAPSHOT_FORMAT = 4;

const FOUND = ["type", "reason", "from", "to", "line", "found"] as const;
const BELONGS_TO = EDGE_TYPES.indexOf("BELONGS_TO");
const PARTICIPATES_IN = EDGE_TYPES.indexOf("PARTICIPATES_IN");

interface Meta {
  format: number;
  communities: Community[];
  processes: Process[];
  implementations: readonly Implementation[];
}

/**
 * The edges that resolution found, before declarations were joined with implementations. The next index reuses them by
 * row.
 */
export interface Found extends EdgeColumns {
  /** The index of the first edge of each file. */
  found: Int32Array;
}

/** @param found only given if it differs from the graph's own edges */
export function packGraph(graph: CodeGraph, found?: Found): Uint8Array {
  const { nodes, edges } = graph;
  const columns = new Map<string, Column>([
    ["label", nodes.label],
    ["exported", nodes.exported],
    ["file", nodes.file],
    ["startLine", nodes.startLine],
    ["endLine", nodes.endLine],
    ["ordinal", nodes.ordinal],
    ["name", nodes.name.list()],
    ["qualified", nodes.qualified.list()],
    ["signature", nodes.signature.list()],
    ["doc", nodes.doc.list()],
    ["type", edges.type],
    ["reason", edges.reason],
    ["from", edges.from],
    ["to", edges.to],
    ["line", edges.line],
    ["languages", graph.languages],
    ["found", graph.found],
  ]);
  for (const name of FOUND) if (found) columns.set(`found.${name}`, found[name]);
  const { communities, processes, implementations } = graph;
  const meta: Meta = { format: SNAPSHOT_FORMAT, communities, processes, implementations };
  return packColumns(columns, meta);
}

/** Reads a snapshot. @returns undefined if it has another format, is damaged, or is incomplete */
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
      name: new Texts(reader.strings("name")),
      qualified: new Texts(reader.strings("qualified")),
      signature: new Texts(reader.strings("signature")),
      doc: new Texts(reader.strings("doc")),
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
    graph.implementations = meta.implementations;
    return graph;
  } catch {
    return undefined;
  }
}

/** The edges that resolution found in each file, from a snapshot. The rest of the snapshot is not read. */
export interface FoundEdges extends EdgeColumns {
  /** The index of the first edge of each file, and one more entry: the end of the last file. */
  start: Int32Array;
}

/** The index after the last edge that resolution found. */
export function foundEnd({ edges: { type }, found }: { edges: Pick<EdgeColumns, "type">; found: Int32Array }): number {
  let end = found.at(-1) ?? 0;
  while (end < type.length && type[end] !== BELONGS_TO && type[end] !== PARTICIPATES_IN) end++;
  return end;
}

/** @returns undefined if the snapshot cannot be read */
export function readFoundEdges(packed: Uint8Array): FoundEdges | undefined {
  try {
    const reader = readColumns(packed);
    if (!reader || (reader.meta as Meta).format !== SNAPSHOT_FORMAT) return undefined;
    const apart = reader.has("found.type") ? "found." : "";
    const type = reader.bytes(`${apart}type`);
    const found = reader.ints(`${apart}found`);
    const end = foundEnd({ edges: { type }, found });
    return {
      type,
      reason: reader.bytes(`${apart}reason`),
      from: reader.ints(`${apart}from`),
      to: reader.ints(`${apart}to`),
      line: reader.ints(`${apart}line`),
      start: Int32Array.from([...found, end]),
    };
  } catch {
    return undefined;
  }
}
