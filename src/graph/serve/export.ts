/**
 * Exports the graph as JSON lines or GraphML. It is made line by line, so that a large graph is never in memory as
 * text.
 */
import type { CodeGraph } from "../code-graph.ts";

export type ExportFormat = "jsonl" | "graphml";

/** Lines of an export, without line ends. Nodes come before edges. */
export function* exportLines(graph: CodeGraph, format: ExportFormat): Generator<string> {
  if (format === "jsonl") yield* jsonLines(graph);
  else yield* graphmlLines(graph);
}

function* jsonLines(graph: CodeGraph): Generator<string> {
  for (let row = 0; row < graph.nodeCount; row++) yield JSON.stringify({ node: nodeOf(graph, row) });
  for (let edge = 0; edge < graph.edgeCount; edge++) yield JSON.stringify({ edge: graph.edge(edge) });
}

function nodeOf(graph: CodeGraph, row: number): Record<string, unknown> {
  const node = graph.node(row);
  if (node.label === "File") return { ...node, file_path: node.qualified_name, language: graph.languages[row] ?? "" };
  if (node.label === "Community") {
    const first = graph.communities[0]!.node;
    const { cohesion, members } = graph.communities[row - first]!;
    return { ...node, cohesion, symbol_count: members.length };
  }
  if (node.label === "Process") {
    const first = graph.processes[0]!.node;
    const { kind, steps } = graph.processes[row - first]!;
    return {
      ...node,
      kind,
      step_count: steps.length,
      entry_id: graph.id(steps[0]!),
      terminal_id: graph.id(steps.at(-1)!),
    };
  }
  return { ...node };
}

const NODE_KEYS = [
  "label",
  "name",
  "qualified_name",
  "file_path",
  "start_line",
  "end_line",
  "language",
  "exported",
  "signature",
  "doc",
] as const;
const EDGE_KEYS = ["type", "line", "confidence", "reason"] as const;

function* graphmlLines(graph: CodeGraph): Generator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>';
  yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">';
  for (const key of NODE_KEYS)
    yield `<key id="n_${key}" for="node" attr.name="${key}" attr.type="${key.endsWith("_line") ? "int" : key === "exported" ? "boolean" : "string"}"/>`;
  for (const key of EDGE_KEYS)
    yield `<key id="e_${key}" for="edge" attr.name="${key}" attr.type="${key === "line" ? "int" : key === "confidence" ? "double" : "string"}"/>`;
  yield '<graph id="code" edgedefault="directed">';
  for (let row = 0; row < graph.nodeCount; row++) {
    const node = nodeOf(graph, row);
    const data = NODE_KEYS.map((key) => `<data key="n_${key}">${escapeXml(String(node[key] ?? ""))}</data>`).join("");
    yield `<node id="${escapeXml(String(node["id"]))}">${data}</node>`;
  }
  for (let row = 0; row < graph.edgeCount; row++) {
    const edge = graph.edge(row);
    const data = EDGE_KEYS.flatMap((key) =>
      edge[key] === undefined ? [] : [`<data key="e_${key}">${escapeXml(String(edge[key]))}</data>`],
    ).join("");
    yield `<edge id="e${row}" source="${escapeXml(edge.from)}" target="${escapeXml(edge.to)}">${data}</edge>`;
  }
  yield "</graph>";
  yield "</graphml>";
}

/** Escapes a text for XML. Control characters that XML forbids are dropped. */
function escapeXml(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
