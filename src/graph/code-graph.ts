/**
 * The graph in memory: nodes and edges as columns. Everything that answers questions reads it; Kuzu and the search
 * index are built from it.
 *
 * A node is a row. Rows are ordered: files, folders, symbols, communities, processes.
 */
import { Adjacency } from "./adjacency.ts";
import { type KeptNodes, keptByBoth } from "./kept-nodes.ts";
import { CONFIDENCE, EDGE_TYPES, type GraphEdge, type GraphNode, NODE_LABELS, REASONS } from "./model.ts";
import { MovedRows } from "./moved-rows.ts";
import type { Texts } from "./texts.ts";

export interface NodeColumns {
  label: Uint8Array;
  /** 1 when visible from other files. */
  exported: Uint8Array;
  /** Row of the file's node; -1 for nodes that belong to no file. */
  file: Int32Array;
  startLine: Int32Array;
  endLine: Int32Array;
  /** Distinguishes nodes whose ids would be equal: 1, 2, … */
  ordinal: Int32Array;
  name: Texts;
  qualified: Texts;
  signature: Texts;
  doc: Texts;
}

export interface EdgeColumns {
  type: Uint8Array;
  reason: Uint8Array;
  from: Int32Array;
  to: Int32Array;
  /** The line of a call or use. For a step of a process, its position, counted from 1. 0 for all other edges. */
  line: Int32Array;
}

/** A functional cluster. `members` are node rows, most connected first. */
export interface Community {
  node: number;
  label: string;
  /** Share of the members' edge weight that stays inside the community, 0–1. */
  cohesion: number;
  members: number[];
}

/** An execution flow. `steps` are node rows in the order they are reached. */
export interface Process {
  node: number;
  label: string;
  kind: "intra_community" | "cross_community";
  steps: number[];
}

/**
 * The implementation of a node whose declaration is in another file. `label` and `ordinal` are those of the id that the
 * node would have at its implementation.
 */
export interface Implementation extends Record<"label" | "file" | "ordinal" | "startLine" | "endLine", number> {
  node: number;
}

/**
 * Rows by name, as linked lists: `first` holds the first row of each name, `next` the next row with the same name, -1
 * at the end.
 */
interface NameIndex {
  first: Map<string, number>;
  next: Int32Array;
}

/** The name index of an earlier graph, and how edits since then moved and removed its nodes. */
interface KeptNames {
  index: NameIndex;
  kept: KeptNodes;
  /** Rows of the nodes that the index lacks, by name. */
  fresh: ReadonlyMap<string, readonly number[]>;
}

/** If more nodes than this were added since the earlier index was built, a new index is built from all names. */
const MAX_FRESH = 5_000;

export class CodeGraph {
  readonly nodes: NodeColumns;
  readonly edges: EdgeColumns;
  /** Language of each file node, by row. */
  readonly languages: string[];
  /**
   * The first edge that resolution found in each file. A file's edges end where those of the next file begin. The last
   * file's edges end at the first BELONGS_TO edge.
   */
  readonly found: Int32Array;
  communities: Community[] = [];
  processes: Process[] = [];
  implementations: readonly Implementation[] = [];
  private implementationIndex: ReadonlyMap<number, Implementation> | undefined;
  private readonly leaving: Adjacency;
  private readonly reaching: Adjacency;
  private nameIndex: NameIndex | undefined;
  private keptNames: KeptNames | undefined;

  constructor(nodes: NodeColumns, edges: EdgeColumns, languages: string[], found: Int32Array) {
    this.nodes = nodes;
    this.edges = edges;
    this.languages = languages;
    this.found = found;
    this.leaving = new Adjacency(nodes.label.length, edges.from);
    this.reaching = new Adjacency(nodes.label.length, edges.to);
  }

  get nodeCount(): number {
    return this.nodes.label.length;
  }

  get edgeCount(): number {
    return this.edges.type.length;
  }

  label(node: number): (typeof NODE_LABELS)[number] {
    return NODE_LABELS[this.nodes.label[node]!]!;
  }

  filePath(node: number): string {
    const file = this.nodes.file[node]!;
    return file < 0 ? "" : this.nodes.qualified.get(file)!;
  }

  id(node: number): string {
    const label = this.label(node);
    const qualified = this.nodes.qualified.get(node)!;
    if (label === "File" || label === "Folder" || label === "Community" || label === "Process")
      return `${label}:${qualified}`;
    return symbolId(label, this.filePath(node), qualified, this.nodes.ordinal[node]!);
  }

  /** Where a node is implemented, if its declaration is in another file. */
  implementation(node: number): Implementation | undefined {
    this.implementationIndex ??= new Map(this.implementations.map((one) => [one.node, one]));
    return this.implementationIndex.get(node);
  }

  /** The id that a node would have at its implementation; "" if the implementation is not separate. */
  private implementationId(node: number): string {
    const found = this.implementation(node);
    if (!found) return "";
    return symbolId(
      NODE_LABELS[found.label]!,
      this.nodes.qualified.get(found.file)!,
      this.nodes.qualified.get(node)!,
      found.ordinal,
    );
  }

  node(node: number): GraphNode {
    const file = this.nodes.file[node]!;
    const body = this.implementation(node);
    return {
      id: this.id(node),
      label: this.label(node),
      name: this.nodes.name.get(node)!,
      qualified_name: this.nodes.qualified.get(node)!,
      file_path: this.filePath(node),
      start_line: this.nodes.startLine[node]!,
      end_line: this.nodes.endLine[node]!,
      language: file < 0 ? "" : (this.languages[file] ?? ""),
      exported: this.nodes.exported[node] === 1,
      signature: this.nodes.signature.get(node)!,
      doc: this.nodes.doc.get(node)!,
      ...(body && {
        implementation: {
          file_path: this.nodes.qualified.get(body.file)!,
          start_line: body.startLine,
          end_line: body.endLine,
        },
      }),
    };
  }

  edge(edge: number): GraphEdge {
    const reason = REASONS[this.edges.reason[edge]!]!;
    const line = this.edges.line[edge]!;
    return {
      type: EDGE_TYPES[this.edges.type[edge]!]!,
      from: this.id(this.edges.from[edge]!),
      to: this.id(this.edges.to[edge]!),
      ...(line > 0 ? { line } : {}),
      confidence: CONFIDENCE[reason],
      reason,
    };
  }

  /** Rows of the nodes with exactly this name, in ascending order. */
  findByName(name: string): number[] {
    if (this.keptNames) return rowsIn(this.keptNames, name);
    const { first, next } = this.names();
    const rows: number[] = [];
    for (let row = first.get(name) ?? -1; row >= 0; row = next[row]!) rows.push(row);
    return rows;
  }

  /**
   * Reuses the name index of the graph before an edit, if that graph has one.
   * @param kept what the edit left of the nodes; "all" if only clusters and flows changed
   */
  takeNames(before: CodeGraph, kept: KeptNodes | "all"): void {
    const { nameIndex: index, keptNames: known } = before;
    if (before === this || (!index && !known)) return;
    const nodes = before.firstGroup();
    const now = kept === "all" ? { moved: MovedRows.same(nodes), fresh: [] } : kept;
    const all = known ? keptByBoth(known.kept, now) : now;
    if (all.fresh.length > MAX_FRESH) return;
    const fresh = new Map<string, number[]>();
    const put = (row: number): void => {
      const rows = fresh.get(this.nodes.name.get(row)!);
      if (rows) rows.push(row);
      else fresh.set(this.nodes.name.get(row)!, [row]);
    };
    for (const row of all.fresh) put(row);
    for (let row = this.firstGroup(); row < this.nodeCount; row++) put(row);
    const base = known?.index ?? index;
    if (base) this.keptNames = { index: base, kept: all, fresh };
  }

  /** Row of the first cluster or flow. All nodes of the sources come before it. */
  private firstGroup(): number {
    return this.communities[0]?.node ?? this.processes[0]?.node ?? this.nodeCount;
  }

  /** Row of the node with this id, or -1. The id of a node's implementation also finds the node. */
  rowOf(id: string): number {
    const [, found, number] = FOUND_ID.exec(id) ?? [];
    if (found) return (found === "Community" ? this.communities : this.processes)[Number(number) - 1]?.node ?? -1;
    const bare = id.replace(/~\d+$/, "");
    // Every id ends in its node's name, after a separator. A name may itself contain separators.
    for (const text of bare === id ? [id] : [bare, id]) {
      for (const name of endingsOf(text)) {
        for (const row of this.findByName(name))
          if (
            text.endsWith(this.nodes.qualified.get(row)!) &&
            (this.id(row) === id || this.implementationId(row) === id)
          )
            return row;
      }
    }
    return -1;
  }

  private names(): NameIndex {
    this.nameIndex ??= nameIndex(this.nodes.name);
    return this.nameIndex;
  }

  /**
   * Builds the indexes that questions need, one at each step. A question that arrives meanwhile waits for at most one
   * step.
   */
  *prepare(): Generator<void> {
    const indexNames = () => this.keptNames ?? this.names();
    for (const part of [indexNames, () => this.leaving.prepare(), () => this.reaching.prepare()]) {
      part();
      yield;
    }
  }

  /** Edge rows that leave a node. */
  outgoing(node: number): Int32Array {
    return this.leaving.of(node);
  }

  /** Edge rows that reach a node. */
  incoming(node: number): Int32Array {
    return this.reaching.of(node);
  }
}

const symbolId = (label: string, path: string, qualified: string, ordinal: number): string =>
  `${label}:${path}#${qualified}${ordinal > 1 ? `~${ordinal}` : ""}`;

const FOUND_ID = /^(Community|Process):(\d+)$/;

/** The text itself, and the parts of it that begin after a separator of ids, paths or qualified names. */
export function* endingsOf(text: string): Generator<string> {
  yield text;
  for (let at = 0; at < text.length; at++) if (SEPARATORS.includes(text[at]!)) yield text.slice(at + 1);
}

const SEPARATORS = ":#/.";

function nameIndex(names: Texts): NameIndex {
  const first = new Map<string, number>();
  const next = new Int32Array(names.length);
  for (let row = names.length - 1; row >= 0; row--) {
    const name = names.get(row)!;
    next[row] = first.get(name) ?? -1;
    first.set(name, row);
  }
  return { first, next };
}

function rowsIn({ index, kept, fresh }: KeptNames, name: string): number[] {
  const rows = [...(fresh.get(name) ?? [])];
  for (let row = index.first.get(name) ?? -1; row >= 0; row = index.next[row]!) {
    const now = kept.moved.at(row);
    if (now >= 0) rows.push(now);
  }
  return rows.sort((a, b) => a - b);
}
