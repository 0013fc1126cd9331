/**
 * Joins JavaScript with the declarations beside it: `kit.js` and `kit.d.ts` describe the same symbols. A symbol that is
 * in both becomes one node, that of the declaration, as callers see it. The node also records where the implementation
 * is.
 */
import type { NodeColumns } from "../code-graph.ts";
import { EDGE_TYPES, NODE_LABELS, type NodeLabel } from "../model.ts";
import { GraphBuilder } from "./structure.ts";

const DECLARATIONS = /\.d\.([mc]?)ts$/;
const TYPES: ReadonlySet<NodeLabel> = new Set(["Class", "Interface"]);
const VALUES: ReadonlySet<NodeLabel> = new Set(["Function", "Method", "Const", "Variable", "Property"]);
const [CONTAINS, DEFINED_IN] = [EDGE_TYPES.indexOf("CONTAINS"), EDGE_TYPES.indexOf("DEFINED_IN")];

/**
 * Joins declarations with implementations: one node for each such symbol. @returns the builder itself if there is none
 */
export function joinDeclarations(builder: GraphBuilder): GraphBuilder {
  const { edges } = builder;
  const nodes = builder.nodeColumns();
  const declared = declarationRows(nodes);
  if (declared.size === 0) return builder;
  const joined = new GraphBuilder();
  joined.languages.push(...builder.languages);
  const rows = copyNodes(nodes, joined, declared);
  const [type, from, to] = [edges.type.view, edges.from.view, edges.to.view];
  const [reason, line] = [edges.reason.view, edges.line.view];
  let file = 0;
  for (let edge = 0; edge < type.length; edge++) {
    for (; builder.found[file] === edge; file++) joined.startFile();
    const kind = type[edge]!;
    // The declaration alone decides which file the node is in, and which node contains it.
    if (kind === DEFINED_IN && declared.has(from[edge]!)) continue;
    if (kind === CONTAINS && declared.has(to[edge]!)) continue;
    joined.addEdgeRow(kind, reason[edge]!, rows[from[edge]!]!, rows[to[edge]!]!, line[edge]!);
  }
  for (; file < builder.found.length; file++) joined.startFile();
  return joined;
}

/** @returns the new row of each node; implementations and further overloads get the row of their declaration */
function copyNodes(nodes: NodeColumns, to: GraphBuilder, declared: ReadonlyMap<number, number>): Int32Array {
  const rows = new Int32Array(nodes.label.length).fill(-1);
  for (let row = 0; row < rows.length; row++) {
    if (declared.has(row)) continue;
    const label = NODE_LABELS[nodes.label[row]!]!;
    const copy = to.addNode(label, nodes.name.get(row)!, nodes.qualified.get(row)!, nodes.file[row]!);
    rows[row] = copy;
    for (const name of ["exported", "startLine", "endLine", "ordinal"] as const)
      to.nodes[name].put(copy, nodes[name][row] ?? 0);
    for (const name of ["signature", "doc"] as const) to.texts[name][copy] = nodes[name].get(row)!;
  }
  const placed = new Set<number>();
  for (const [row, declaration] of declared) {
    const node = rows[declaration]!;
    rows[row] = node;
    // A further overload is not an implementation. Of two implementations, the first is shown.
    if (nodes.file[row] === nodes.file[declaration] || placed.has(node)) continue;
    placed.add(node);
    to.texts.doc[node] ||= nodes.doc.get(row)!;
    to.implementations.push({
      node,
      label: nodes.label[row]!,
      file: nodes.file[row]!,
      ordinal: nodes.ordinal[row]!,
      startLine: nodes.startLine[row]!,
      endLine: nodes.endLine[row]!,
    });
  }
  return rows;
}

/**
 * Maps the rows of implementations, and of further overloads in the declaring file, to the row of their declaration.
 */
function declarationRows(nodes: NodeColumns): Map<number, number> {
  const declared = new Map<number, number>();
  const pairs = filePairs(nodes);
  if (pairs.size === 0) return declared;
  const byFile = new Map<number, number[]>([...pairs].flat().map((file) => [file, []]));
  for (let row = 0; row < nodes.label.length; row++)
    if (labelOf(nodes, row) !== "File") byFile.get(nodes.file[row]!)?.push(row);
  for (const [written, declaring] of pairs) {
    const byName = new Map<string, number[]>();
    for (const row of byFile.get(declaring)!) {
      const name = nameOf(nodes, row);
      if (name) byName.set(name, [...(byName.get(name) ?? []), row]);
    }
    for (const row of byFile.get(written)!) {
      const [first, ...overloads] = byName.get(nameOf(nodes, row)) ?? [];
      if (first === undefined) continue;
      for (const other of [row, ...overloads]) if (!declared.has(other)) declared.set(other, first);
    }
  }
  return declared;
}

const labelOf = (nodes: NodeColumns, row: number): NodeLabel => NODE_LABELS[nodes.label[row]!]!;

/** A key that is equal for two symbols that are the same; "" for symbols that are neither types nor values. */
function nameOf(nodes: NodeColumns, row: number): string {
  const label = labelOf(nodes, row);
  const kind = TYPES.has(label) ? "type" : VALUES.has(label) ? "value" : "";
  return kind && `${kind} ${nodes.qualified.get(row)}`;
}

/** Maps each JavaScript file to the file that declares its symbols. */
function filePairs(nodes: NodeColumns): Map<number, number> {
  const pairs = new Map<number, number>();
  const count = firstOther(nodes, nodes.label.length);
  /** For each declaring file, the paths of files that it may declare. The first path that exists counts. */
  const declaring: { row: number; paths: string[] }[] = [];
  for (let row = 0; row < count; row++) {
    const path = nodes.qualified.get(row)!;
    const [ending, form = ""] = (path.endsWith("ts") && DECLARATIONS.exec(path)) || [];
    if (ending === undefined) continue;
    const bare = path.slice(0, -ending.length);
    declaring.push({ row, paths: [`${bare}.${form}js`, `${bare}.${form}jsx`] });
  }
  const rows = new Map(declaring.flatMap(({ paths }) => paths.map((path) => [path, -1])));
  if (rows.size === 0) return pairs;
  for (let row = 0; row < count; row++)
    if (rows.has(nodes.qualified.get(row)!)) rows.set(nodes.qualified.get(row)!, row);
  for (const { row, paths } of declaring) {
    const written = paths.map((path) => rows.get(path) ?? -1).find((at) => at >= 0);
    if (written !== undefined) pairs.set(written, row);
  }
  return pairs;
}

/** The first row that is not a file: files come first. */
function firstOther(nodes: NodeColumns, length: number): number {
  let row = 0;
  while (row < length && labelOf(nodes, row) === "File") row++;
  return row;
}
