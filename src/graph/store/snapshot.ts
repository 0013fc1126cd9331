/** The graph as one file, and back. */
import { CodeGraph, type Community, type EdgeColumns, type Implementation, type Process } from "../code-graph.ts";
import { EDGE_TYPES } from "../model.ts";
import { Texts } from "../texts.ts";
import { type Column, packColumns, readColumns } from "./columns.ts";

/** Raise it whenever the meaning of a snapshot changes: older ones are then rebuilt. */
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

/** What resolution found, before symbols of several files became one: the next index takes it over by its rows. */
export interface Found extends EdgeColumns {
  /** First edge of each file. */
  found: Int32Array;
}

/** @param found given where it is not what the graph itself has */
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

/** What resolution found in each file of a snapshot, without reading the rest of it. */
export interface FoundEdges extends EdgeColumns {
  /** First edge of each file, and the end of the last. */
  start: Int32Array;
}

/** The end of the edges that resolution found. */
export function foundEnd({ edges: { type }, found }: { edges: Pick<EdgeColumns, "type">; found: Int32Array }): number {
  let end = found.at(-1) ?? 0;
  while (end < type.length && type[end] !== BELONGS_TO && type[end] !== PARTICIPATES_IN) end++;
  return end;
}

/** @returns undefined when the snapshot cannot be read. */
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
