/**
 * Phase three: the nodes of files, folders and symbols, and the CONTAINS and DEFINED_IN edges between them. Resolved
 * edges are added here too, with the rows of their nodes.
 */

import { CodeGraph, type Implementation, type NodeColumns } from "../code-graph.ts";
import { GrowingBytes, GrowingInts, roomFor } from "../growing-ints.ts";
import { ExportKind, SymbolFlag, Type } from "../language/fact-layout.ts";
import { dirname } from "../language/paths.ts";
import {
  EDGE_TYPES,
  type EdgeType,
  NODE_LABELS,
  type NodeLabel,
  REASONS,
  type Reason,
  SYMBOL_LABELS,
} from "../model.ts";
import type { RawEdge } from "../resolve/calls/edges.ts";
import type { Repository } from "../resolve/repository.ts";
import { exists, isNone, type NameRow, rowAfter, type TypeRow } from "../rows.ts";
import { type ExactEdges, isSameMade } from "../scip/exact-edges.ts";
import type { Found } from "../store/snapshot.ts";
import { Texts } from "../texts.ts";
import type { SymbolNodes } from "./symbol-nodes.ts";

const LABEL_ROW = new Map<NodeLabel, number>(NODE_LABELS.map((label, i) => [label, i]));
const NAMESPACE = SYMBOL_LABELS.indexOf("Namespace");
const TYPE_ROW = new Map<EdgeType, number>(EDGE_TYPES.map((type, i) => [type, i]));
/** For each row of SYMBOL_LABELS, the row of the same label in NODE_LABELS. */
const SYMBOL_LABEL_ROWS = SYMBOL_LABELS.map((label) => LABEL_ROW.get(label)!);
const CONTAINS = EDGE_TYPES.indexOf("CONTAINS");
const DEFINED_IN = EDGE_TYPES.indexOf("DEFINED_IN");
const CALLS = EDGE_TYPES.indexOf("CALLS");
const NO_REASON = REASONS.indexOf("");
const REASON_ROW = new Map<Reason, number>(REASONS.map((reason, i) => [reason, i]));

/** The columns of nodes (NUMBERS) and of edges (ENDS). */
export const NUMBERS = ["label", "exported", "file", "startLine", "endLine", "ordinal", "text"] as const;
export const ENDS = ["type", "reason", "from", "to", "line"] as const;

/** If there are more texts per node than this, texts that no node has are dropped. */
const MOST_TEXTS = 1.5;

type NodeTexts = Record<"name" | "qualified" | "signature" | "doc", string[]>;

/** Builds a graph: columns of nodes and edges that grow. */
export class GraphBuilder {
  readonly nodes = {
    label: new GrowingBytes(),
    exported: new GrowingBytes(),
    file: new GrowingInts(),
    startLine: new GrowingInts(),
    endLine: new GrowingInts(),
    ordinal: new GrowingInts(),
    /** Where a node's texts are in `texts`: in its own row, unless the builder was given earlier texts. */
    text: new GrowingInts(),
  };
  readonly edges = {
    type: new GrowingBytes(),
    reason: new GrowingBytes(),
    from: new GrowingInts(),
    to: new GrowingInts(),
    line: new GrowingInts(),
  };
  readonly languages: string[] = [];
  /** Texts of nodes. An edit appends its texts; graphs from before the edit read the same lists. */
  texts: NodeTexts;
  /** The index of the first edge that was found in each file. */
  readonly found: number[] = [];
  readonly implementations: Implementation[] = [];

  /** @param spare a builder whose memory is reused; neither it nor a graph that it made may be read again */
  constructor(texts: NodeTexts = { name: [], qualified: [], signature: [], doc: [] }, spare?: GraphBuilder) {
    this.texts = texts;
    if (!spare) return;
    for (const name of NUMBERS) this.nodes[name].takeMemory(spare.nodes[name]);
    for (const name of ENDS) this.edges[name].takeMemory(spare.edges[name]);
  }

  addNode(label: NodeLabel, name: string, qualified: string, file: number): number {
    return this.addNodeRow(LABEL_ROW.get(label)!, name, qualified, file);
  }

  /** Adds a node whose label is given as a row of NODE_LABELS. */
  addNodeRow(label: number, name: string, qualified: string, file: number): number {
    const { nodes, texts } = this;
    nodes.label.push(label);
    nodes.exported.push(0);
    nodes.file.push(file);
    nodes.startLine.push(0);
    nodes.endLine.push(0);
    nodes.ordinal.push(1);
    nodes.text.push(texts.name.length);
    texts.name.push(name);
    texts.qualified.push(qualified);
    texts.signature.push("");
    texts.doc.push("");
    return nodes.label.length - 1;
  }

  /** Sets the signature and doc of the node that was added last. */
  describeLast(signature: string, doc: string): void {
    const { texts } = this;
    const place = texts.name.length - 1;
    texts.signature[place] = signature;
    texts.doc[place] = doc;
  }

  /** Drops texts that edits left without a node, if there are many of them. */
  dropOldTexts(): void {
    const { text } = this.nodes;
    if (this.texts.name.length < text.length * MOST_TEXTS) return;
    const { name, qualified, signature, doc } = textsAt(this.texts, text.view);
    this.texts = { name: name.list(), qualified: qualified.list(), signature: signature.list(), doc: doc.list() };
    // Graphs from before the edit still read the old column.
    this.nodes.text = new GrowingInts();
    this.nodes.text.append(Int32Array.from({ length: text.length }, (_, row) => row));
  }

  /** Reserves room for this many nodes in all, and a few more. */
  reserveNodes(nodes: number): void {
    for (const name of NUMBERS) this.nodes[name].reserve(nodes, roomFor(nodes));
  }

  /** Reserves room for this many edges in all, and a few more. */
  reserveEdges(edges: number): void {
    for (const name of ENDS) this.edges[name].reserve(edges, roomFor(edges));
  }

  addEdge(type: EdgeType, from: number, to: number, line = 0, reason: Reason = ""): void {
    this.addEdgeRow(TYPE_ROW.get(type)!, REASON_ROW.get(reason)!, from, to, line);
  }

  /** Adds an edge whose type and reason are given as rows of EDGE_TYPES and REASONS. */
  addEdgeRow(type: number, reason: number, from: number, to: number, line: number): void {
    const { edges } = this;
    edges.type.push(type);
    edges.reason.push(reason);
    edges.from.push(from);
    edges.to.push(to);
    edges.line.push(line);
  }

  /** Starts a file: the resolved edges that are added next belong to it. */
  startFile(): void {
    this.found.push(this.edges.type.length);
  }

  /** The edges so far and where those of each file begin, as views. */
  foundEdges(): Found {
    const { type, reason, from, to, line } = this.edges;
    return {
      type: type.view,
      reason: reason.view,
      from: from.view,
      to: to.view,
      line: line.view,
      found: new Int32Array(this.found),
    };
  }

  /** The nodes so far, as views. */
  nodeColumns(): NodeColumns {
    const { label, exported, file, startLine, endLine, ordinal, text } = this.nodes;
    return {
      label: label.view,
      exported: exported.view,
      file: file.view,
      startLine: startLine.view,
      endLine: endLine.view,
      ordinal: ordinal.view,
      ...textsAt(this.texts, text.view),
    };
  }

  /** A graph of the nodes and edges so far, as views. */
  finish(): CodeGraph {
    const { found, ...edges } = this.foundEdges();
    const graph = new CodeGraph(this.nodeColumns(), edges, this.languages, found);
    graph.implementations = this.implementations;
    return graph;
  }

  /**
   * A graph with the nodes and edges of another builder after these. Row numbers in the other builder's edges continue
   * this builder's rows. This builder does not get them, and never changes a row of the graph later.
   */
  finishWith({ nodes: more, texts: moreTexts, edges: moreEdges }: GraphBuilder): CodeGraph {
    const { nodes, edges } = this;
    const graph = new CodeGraph(
      {
        label: nodes.label.viewWith(more.label),
        exported: nodes.exported.viewWith(more.exported),
        file: nodes.file.viewWith(more.file),
        startLine: nodes.startLine.viewWith(more.startLine),
        endLine: nodes.endLine.viewWith(more.endLine),
        ordinal: nodes.ordinal.viewWith(more.ordinal),
        ...textsAt(this.texts, nodes.text.viewWith({ view: more.text.view.map((place) => ~place) }), moreTexts),
      },
      {
        type: edges.type.viewWith(moreEdges.type),
        reason: edges.reason.viewWith(moreEdges.reason),
        from: edges.from.viewWith(moreEdges.from),
        to: edges.to.viewWith(moreEdges.to),
        line: edges.line.viewWith(moreEdges.line),
      },
      this.languages,
      new Int32Array(this.found),
    );
    graph.implementations = this.implementations;
    return graph;
  }
}

function textsAt(all: NodeTexts, places: Int32Array, more?: NodeTexts): Record<keyof NodeTexts, Texts> {
  const pick = (name: keyof NodeTexts) => new Texts(all[name], places, more?.[name]);
  return { name: pick("name"), qualified: pick("qualified"), signature: pick("signature"), doc: pick("doc") };
}

/**
 * Adds files, folders, symbols and their CONTAINS edges.
 * @returns the node of each symbol of the repository; -1 for hidden ones
 */
export function addStructure(builder: GraphBuilder, repo: Repository): Int32Array {
  const folders = new Map<string, number>();
  for (const [row, file] of repo.files.entries()) {
    const node = builder.addNode("File", file.path.slice(file.path.lastIndexOf("/") + 1), file.path, row);
    builder.languages[node] = file.language.id;
    builder.nodes.startLine.put(node, 1);
    builder.nodes.endLine.put(node, Math.max(1, repo.facts(row).lines));
  }
  for (const [row, file] of repo.files.entries()) {
    let child = row;
    for (let path = dirname(file.path); path !== ""; path = dirname(path)) {
      const known = folders.get(path);
      const folder = known ?? builder.addNode("Folder", path.slice(path.lastIndexOf("/") + 1), path, -1);
      builder.addEdge("CONTAINS", folder, child);
      if (known !== undefined) break;
      folders.set(path, folder);
      child = folder;
    }
  }
  const symbolNodes = new Int32Array(repo.symbolTotal).fill(-1);
  for (let file = 0; file < repo.files.length; file++)
    addSymbols(builder, repo, file, symbolNodes.subarray(repo.base[file], repo.base[file + 1]));
  return symbolNodes;
}

/**
 * Adds a file's symbols in consecutive rows.
 * @param nodes gets the node of each of the file's symbols; before, all entries are -1
 * @param fileNode the number that stands for the file's node in edges
 */
export function addSymbols(
  builder: GraphBuilder,
  repo: Repository,
  file: number,
  nodes: Int32Array,
  fileNode = file,
): void {
  const facts = repo.facts(file);
  const { symbols, strings } = facts;
  const ordinalOf = createOrdinals();
  const qualifiedOf: string[] = [];
  const readText = (index: NameRow) => (isNone(index) ? "" : strings[index]!);
  const exported = exportedNames(repo, file);
  const owners = writtenOwners(repo, file);
  for (let row = symbols.first; row < symbols.length; row = rowAfter(row)) {
    const parent = symbols.parent(row);
    const name = strings[symbols.name(row)]!;
    const around = isNone(parent) ? "" : qualifiedOf[parent]!;
    // A member that is defined in a name space and not in its type is still named after its type.
    const apart = isNone(parent) || symbols.label(parent) === NAMESPACE;
    const owner = apart ? (owners.get(row) ?? "") : "";
    const outer = around !== "" && owner !== "" ? `${around}.${owner}` : around || owner;
    const flags = symbols.flags(row);
    if (flags & SymbolFlag.Hidden) {
      qualifiedOf.push(outer);
      continue;
    }
    const qualified = outer === "" ? name : `${outer}.${name}`;
    qualifiedOf.push(qualified);
    const label = symbols.label(row);
    const node = builder.addNodeRow(SYMBOL_LABEL_ROWS[label]!, name, qualified, file);
    nodes[row] = node;
    builder.nodes.ordinal.put(node, ordinalOf(label, qualified));
    builder.nodes.startLine.put(node, symbols.startLine(row));
    builder.nodes.endLine.put(node, symbols.endLine(row));
    builder.describeLast(readText(symbols.signature(row)), readText(symbols.doc(row)));
    const shared = flags & SymbolFlag.Exported || (isNone(parent) && exported?.has(name));
    builder.nodes.exported.put(node, shared ? 1 : 0);
    builder.addEdgeRow(DEFINED_IN, NO_REASON, node, fileNode, 0);
    let holder = parent;
    while (exists(holder) && nodes[holder]! < 0) holder = symbols.parent(holder);
    builder.addEdgeRow(CONTAINS, NO_REASON, isNone(holder) ? fileNode : nodes[holder]!, node, 0);
  }
}

/** @returns a counter of a file's symbols with equal label and qualified name; it answers 1 for the first */
function createOrdinals(): (label: number, qualified: string) => number {
  // Few names occur twice. Only those get a key that includes the label.
  const firsts = new Map<string, number>();
  const again = new Map<string, number>();
  return (label, qualified) => {
    const first = firsts.get(qualified);
    if (first === undefined) {
      firsts.set(qualified, label);
      return 1;
    }
    const key = `${label}:${qualified}`;
    const ordinal = (again.get(key) ?? (first === label ? 1 : 0)) + 1;
    again.set(key, ordinal);
    return ordinal;
  };
}

/** For members that are defined outside their type, by symbol row: the written name of that type. */
function writtenOwners(repo: Repository, file: number): Map<number, string> {
  const owners = new Map<number, string>();
  const { attaches, types, strings } = repo.facts(file);
  const nameOf = (row: TypeRow): string => {
    const op = types.op(row);
    if (op === Type.Ref) return strings[types.name(row)]!;
    if (op !== Type.Qualified) return "";
    const left = types.qualifier(row);
    const outer = isNone(left) ? "" : nameOf(left);
    const name = strings[types.member(row)]!;
    return outer === "" ? name : `${outer}.${name}`;
  };
  for (let row = 0; row < attaches.length; row++) owners.set(attaches.symbol(row), nameOf(attaches.type(row)));
  return owners;
}

/** The local names in the file's export list; undefined if it has none. */
function exportedNames(repo: Repository, file: number): Set<string> | undefined {
  const { exports, strings } = repo.facts(file);
  if (exports.length === 0) return undefined;
  const names = new Set<string>();
  for (let row = exports.first; row < exports.length; row = rowAfter(row))
    if (exports.kind(row) === ExportKind.Local) names.add(strings[exports.from(row)]!);
  return names;
}

/**
 * Adds the next file's resolved edges. Edges to symbols without a node are left out. Equal edges on the same line are
 * added once.
 * @param exact what a compiler reported of the file's calls; it replaces the calls that resolution found
 */
export function addFoundEdges(
  builder: GraphBuilder,
  found: readonly RawEdge[],
  symbolNodes: Pick<SymbolNodes, "at">,
  exact?: ExactEdges,
): void {
  builder.startFile();
  const nodes = builder.nodeColumns();
  const isNew = createSeen(nodes.label.length);
  /** By line: nodes that resolution found for calls that the compiler knows. A class and its constructor are one. */
  const made = new Map<number, number[]>();
  for (const edge of found) {
    const from = edge.from < 0 ? -1 - edge.from : symbolNodes.at(edge.from)!;
    const to = edge.to < 0 ? -1 - edge.to : symbolNodes.at(edge.to)!;
    if (from < 0 || to < 0) continue;
    if (exact?.replaces(edge, to)) {
      made.set(edge.line, [...(made.get(edge.line) ?? []), to]);
      continue;
    }
    const type = TYPE_ROW.get(edge.type)!;
    if (isNew(type, from, to, edge.line)) builder.addEdgeRow(type, REASON_ROW.get(edge.reason)!, from, to, edge.line);
  }
  for (const { from, to, line } of exact?.edges ?? []) {
    const end = made.get(line)?.find((node) => isSameMade(nodes, node, to)) ?? to;
    if (isNew(CALLS, from, end, line)) builder.addEdge("CALLS", from, end, line, "exact");
  }
}

/**
 * @param nodes their number. @returns a function that tells whether an edge is the first with its type, ends and line
 */
function createSeen(nodes: number): (type: number, from: number, to: number, line: number) => boolean {
  // Most pairs of nodes have one edge. Only the others need a set of their own.
  const seen = new Map<number, number | Set<number>>();
  return (type, from, to, line) => {
    const ends = from * nodes + to;
    const how = line * EDGE_TYPES.length + type;
    const known = seen.get(ends);
    if (known === undefined) seen.set(ends, how);
    else if (typeof known === "number") {
      if (known === how) return false;
      seen.set(ends, new Set([known, how]));
    } else if (known.has(how)) return false;
    else known.add(how);
    return true;
  };
}
