/** Reads `expected.txt` of a fixture (format: README.md) and compares it with a graph. */
import type { GraphEdge, GraphNode } from "../model.ts";

/** Lists the differences between a graph and what the fixture expects. It is empty if the graph is as expected. */
export function listDifferences(expected: string, nodes: readonly GraphNode[], edges: readonly GraphEdge[]): string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const present = new Set(edges.map((edge) => `${edge.type} ${edge.from} -> ${edge.to}`));
  const listed = new Set<string>();
  const exact: string[] = [];
  const wrong: string[] = [];
  for (const line of expected.split("\n")) {
    const [word = "", ...rest] = line.trim().split(/\s+/);
    const text = rest.join(" ");
    if (word === "" || word.startsWith("#")) continue;
    if (word === "node") {
      if (!byId.has(text)) wrong.push(`missing node ${text}`);
    } else if (word === "absent") {
      if (byId.has(text)) wrong.push(`unwanted node ${text}`);
    } else if (word === "edge") {
      listed.add(text);
      if (!present.has(text)) wrong.push(`missing edge ${text}`);
    } else if (word === "not") {
      if (present.has(text)) wrong.push(`false edge ${text}`);
    } else if (word === "exact") exact.push(text);
    else if (word === "lines") {
      const [id = "", range = ""] = rest;
      const node = byId.get(id);
      const actual = node ? `${node.start_line}-${node.end_line}` : "no such node";
      if (actual !== range) wrong.push(`lines of ${id}: expected ${range}, found ${actual}`);
    } else wrong.push(`cannot read: ${line}`);
  }
  for (const type of exact) {
    for (const edge of present)
      if (edge.startsWith(`${type} `) && !listed.has(edge)) wrong.push(`unlisted edge ${edge}`);
  }
  return wrong;
}
