/**
 * The structure after an edit: the nodes of edited files are made again, those of all other files are copied and moved.
 * The result equals what `addStructure` makes of the whole repository, in the same rows.
 */
import type { CodeGraph, NodeColumns } from "../code-graph.ts";
import { roomFor } from "../growing-ints.ts";
import { SymbolFlag } from "../language/fact-layout.ts";
import type { Repository } from "../resolve/repository.ts";
import { foundEnd } from "../store/snapshot.ts";
import { addStructure, addSymbols, ENDS, GraphBuilder, NUMBERS } from "./structure.ts";
import { SymbolNodes } from "./symbol-nodes.ts";

/** The nodes and edges of a repository, and the rows in which they are. */
export interface Laid {
  repo: Repository;
  builder: GraphBuilder;
  symbolNodes: SymbolNodes;
  /** First symbol node of each file, and one more entry: the end of the last file. Files and folders come before. */
  first: Int32Array;
}

export interface Patched extends Laid {
  /** The new row of each old node; -1 for nodes that are gone. */
  moved: Int32Array;
}

/**
 * Builds the structure without resolved edges.
 * @param sizes how many nodes and edges to reserve room for
 */
export function layOut(repo: Repository, sizes: Sizes): Laid {
  const builder = new GraphBuilder();
  builder.reserveNodes(sizes.nodeCount);
  builder.reserveEdges(sizes.edgeCount);
  const all = addStructure(builder, repo);
  const first = firstNodes(builder.nodes.file.view, repo.files.length);
  return { repo, builder, symbolNodes: new SymbolNodes({ base: repo.base, all, first }), first };
}

/**
 * Finds the first symbol node of each file.
 * @param file the row of each node's file
 */
function firstNodes(file: Int32Array, files: number): Int32Array {
  const first = new Int32Array(files + 1);
  let at = files;
  while (at < file.length && (file[at] ?? -1) < 0) at++;
  for (let row = 0; row < files; row++) {
    first[row] = at;
    while (at < file.length && file[at] === row) at++;
  }
  first[files] = at;
  return first;
}

/**
 * Takes the structure and the resolved edges from a graph that was made of them. That takes a fraction of the time of
 * building them.
 * @returns undefined if symbols of several files are one node in the graph, or if its nodes do not match the repository
 */
export function layOutFrom(graph: CodeGraph, repo: Repository): Laid | undefined {
  const files = repo.files.length;
  if (files === 0 || graph.implementations.length > 0 || graph.found.length !== files) return undefined;
  const first = firstNodes(graph.nodes.file, files);
  const all = nodesInTurn(repo, first);
  if (!all) return undefined;
  const [name, qualified] = [graph.nodes.name.list(), graph.nodes.qualified.list()];
  const [signature, doc] = [graph.nodes.signature.list(), graph.nodes.doc.list()];
  const builder = new GraphBuilder({ name, qualified, signature, doc });
  builder.reserveNodes(graph.nodeCount);
  builder.reserveEdges(graph.edgeCount);
  for (const column of NUMBERS)
    if (column !== "text") builder.nodes[column].append(graph.nodes[column].subarray(0, first[files]));
  for (let row = 0; row < first[files]!; row++) builder.nodes.text.push(row);
  const end = foundEnd(graph);
  for (const column of ENDS) builder.edges[column].append(graph.edges[column].subarray(0, end));
  for (const edge of graph.found) builder.found.push(edge);
  for (const language of graph.languages) builder.languages.push(language);
  return { repo, builder, symbolNodes: new SymbolNodes({ base: repo.base, all, first }), first };
}

/** The node of each symbol, as `addSymbols` numbers them. Undefined if a file has another number of nodes. */
function nodesInTurn(repo: Repository, first: Int32Array): Int32Array | undefined {
  const all = new Int32Array(repo.symbolTotal);
  let node = first[0]!;
  for (const [file, { facts }] of repo.files.entries()) {
    if (node !== first[file]) return undefined;
    node = facts.table("symbols").numberWithout(SymbolFlag.Hidden, all, repo.base[file]!, node);
  }
  return node === first.at(-1) ? all : undefined;
}

/** The nodes of one edited file, in rows from 0 on. In their edges, FILE stands for the file's node. */
interface Own {
  file: number;
  builder: GraphBuilder;
  count: number;
  /** The node of each symbol; -1 for hidden symbols. */
  nodes: Int32Array;
}

const FILE = -1;

/** Room is reserved for this many more edges than there were before. */
const MORE_EDGES = 256;

type Sizes = Pick<CodeGraph, "nodeCount" | "edgeCount">;

/**
 * Builds the structure after an edit, without the edges that resolution finds.
 * @param before the structure before the edit; it must not be edited again, as its texts grow by those of the edit
 * @param repo the repository after the edit, with the same files in the same rows
 * @param changed rows of the edited files, in ascending order
 * @param graph the graph before, with clusters and flows; the next one is about as large
 * @param spare the structure of an earlier edit, whose memory is reused
 */
export function patchStructure(
  before: Laid,
  repo: Repository,
  changed: readonly number[],
  graph: Sizes,
  spare?: Laid | Patched,
): Patched {
  const files = repo.files.length;
  before.builder.dropOldTexts();
  const { texts } = before.builder;
  const own = new Map(changed.map((file) => [file, ownNodes(new GraphBuilder(texts), repo, file)]));
  const first = new Int32Array(files + 1);
  first[0] = before.first[0]!;
  for (let file = 0; file < files; file++)
    first[file + 1] = first[file]! + (own.get(file)?.count ?? before.first[file + 1]! - before.first[file]!);
  const moved = memoryFor(spare && "moved" in spare ? spare.moved : undefined, before.first[files]!);
  moveRows(before, first, own, moved);
  const builder = new GraphBuilder(texts, spare?.builder);
  // Clusters, flows and their edges come after the symbols. As a rule, an edit adds a few edges.
  const nodes = graph.nodeCount + Math.max(0, first[files]! - before.first[files]!);
  builder.reserveNodes(nodes);
  builder.reserveEdges(graph.edgeCount + MORE_EDGES);
  spliceNodes(builder, before, [...own.values()], repo);
  const nodesOf = new Map(Array.from(own, ([file, { nodes }]) => [file, nodes]));
  const symbolNodes = before.symbolNodes.after({ repo, first, own: nodesOf });
  addEdges({ before, builder, moved, first, own });
  return { repo, builder, symbolNodes, first, moved };
}

function ownNodes(builder: GraphBuilder, repo: Repository, file: number): Own {
  const nodes = new Int32Array(repo.facts(file).symbols.length).fill(-1);
  addSymbols(builder, repo, file, nodes, FILE);
  return { file, builder, count: builder.nodes.label.length, nodes };
}

/** Copies the nodes, with those of edited files in the place of their earlier ones. */
function spliceNodes(
  builder: GraphBuilder,
  { builder: old, first }: Laid,
  own: readonly Own[],
  repo: Repository,
): void {
  for (const name of NUMBERS) {
    const [column, rows] = [builder.nodes[name], old.nodes[name].view];
    let at = 0;
    for (const one of own) {
      column.append(rows.subarray(at, first[one.file]));
      column.append(one.builder.nodes[name].view);
      at = first[one.file + 1] ?? at;
    }
    column.append(rows.subarray(at));
  }
  for (const language of old.languages) builder.languages.push(language);
  for (const { file } of own) builder.nodes.endLine.put(file, Math.max(1, repo.facts(file).lines));
}

/** A list of this length, in the spare memory if that is large enough. */
function memoryFor(spare: Int32Array | undefined, length: number): Int32Array {
  const rows = spare && spare.buffer.byteLength >= 4 * length ? new Int32Array(spare.buffer) : undefined;
  return (rows ?? new Int32Array(roomFor(length))).subarray(0, length);
}

/** A key of a node within its file. Nodes with the same key before and after an edit stand for the same symbol. */
const nodeKey = (nodes: NodeColumns, row: number): string =>
  `${nodes.label[row]}:${nodes.qualified.get(row)}~${nodes.ordinal[row]}`;

/**
 * Finds the new row of each old node.
 * @param moved the result is written into it; -1 for nodes that are gone
 */
function moveRows(
  { builder: old, first: oldFirst }: Laid,
  first: Int32Array,
  own: ReadonlyMap<number, Own>,
  moved: Int32Array,
): void {
  const nodes = old.nodeColumns();
  const files = first.length - 1;
  for (let row = 0; row < oldFirst[0]!; row++) moved[row] = row;
  for (let file = 0; file < files; file++) {
    const [from, to] = [oldFirst[file]!, oldFirst[file + 1]!];
    const fresh = own.get(file);
    if (!fresh) {
      const by = first[file]! - from;
      for (let row = from; row < to; row++) moved[row] = row + by;
      continue;
    }
    const rows = new Map<string, number>();
    const now = fresh.builder.nodeColumns();
    for (let i = 0; i < fresh.count; i++) rows.set(nodeKey(now, i), first[file]! + i);
    for (let row = from; row < to; row++) moved[row] = rows.get(nodeKey(nodes, row)) ?? -1;
  }
}

/** Adds the edges of structure: first those of folders, then two for each symbol. */
function addEdges(input: {
  before: Laid;
  builder: GraphBuilder;
  moved: Int32Array;
  first: Int32Array;
  own: ReadonlyMap<number, Own>;
}): void {
  const { before, builder, moved, first, own } = input;
  const files = first.length - 1;
  const symbols = before.first[files]! - before.first[0]!;
  const folders = before.builder.found[0]! - 2 * symbols;
  const { edges: old } = before.builder;
  let at = 0;
  const takeOver = (end: number): void => {
    for (const name of ["type", "reason", "line"] as const)
      builder.edges[name].append(old[name].view.subarray(at, end));
    for (const name of ["from", "to"] as const) builder.edges[name].appendAt(old[name].view.subarray(at, end), moved);
    at = end;
  };
  const startOf = (file: number) => folders + 2 * (before.first[file]! - before.first[0]!);
  for (const { file, builder: fresh } of own.values()) {
    takeOver(startOf(file));
    const by = first[file]!;
    for (const name of ENDS) {
      const isNode = name === "from" || name === "to";
      const rows = fresh.edges[name].view;
      builder.edges[name].append(isNode ? rows.map((node) => (node === FILE ? file : node + by)) : rows);
    }
    at = startOf(file + 1);
  }
  takeOver(startOf(files));
}
