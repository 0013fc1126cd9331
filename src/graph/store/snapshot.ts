/** The graph as one file, and back. */
import { CodeGraph, type Community, type Process } from "../code-graph.ts";
import { type Column, packColumns, readColumns } from "./columns.ts";

/** Raise with every change of what a snapshot means: older ones are rebuilt. */
export const SNAPSHOT_FORMAT = 1;

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
    const graph = new CodeGraph(nodes, edges, reader.strings("languages"));
    graph.communities = meta.communities;
    graph.processes = meta.processes;
    return graph;
  } catch {
    return undefined;
  }
}
