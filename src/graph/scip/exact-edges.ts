/** What a compiler reported of a file's calls, as edges. They replace the calls that resolution found. */

import type { NodeColumns } from "../code-graph.ts";
import type { GraphBuilder } from "../index/structure.ts";
import type { SymbolNodes } from "../index/symbol-nodes.ts";
import { NODE_LABELS } from "../model.ts";
import type { RawEdge } from "../resolve/calls/edges.ts";
import type { Repository } from "../resolve/repository.ts";
import { exists, type SymbolRow } from "../rows.ts";
import { calledName } from "./called-name.ts";
import type { ExactReferences } from "./exact-references.ts";

/** An edge whose ends are nodes. */
interface ExactEdge {
  from: number;
  to: number;
  line: number;
}

/** The exact edges of a file, and which of resolution's edges they replace. */
export interface ExactEdges {
  edges: readonly ExactEdge[];
  /** Whether exact edges replace an edge that resolution found. @param to row of the node that this edge leads to */
  replaces(found: Pick<RawEdge, "type" | "line">, to: number): boolean;
}

interface ExactInput {
  repo: Repository;
  builder: GraphBuilder;
  symbolNodes: Pick<SymbolNodes, "at">;
  references: ExactReferences;
  /** Hash of a file's current content. */
  hashOf(path: string): string;
}

/**
 * @returns a function that gives the exact edges of a file, by its row. Undefined if nothing is known of its current
 * content.
 */
export function createExactEdges(input: ExactInput): (file: number) => ExactEdges | undefined {
  const { repo, builder, symbolNodes, references } = input;
  if (references.files.size === 0) return () => undefined;
  const wanted = new Set<string>();
  for (const { calls } of references.files.values()) for (const { to } of calls) wanted.add(to);
  const nodes = builder.nodeColumns();
  const rows = nodesById(nodes, wanted);

  /** The node that contains a call: the nearest symbol that has a node, else the file. */
  function callerOf(file: number, symbol: SymbolRow): number {
    const { symbols } = repo.facts(file);
    for (let row = symbol; exists(row); row = symbols.parent(row)) {
      const node = symbolNodes.at((repo.base[file] ?? 0) + row) ?? -1;
      if (node >= 0) return node;
    }
    return file;
  }

  return (file) => {
    const path = repo.files[file]?.path ?? "";
    const known = references.files.get(path);
    if (known?.hash !== input.hashOf(path)) return undefined;
    const answers = new Map<string, number[]>();
    for (const { line, name, to } of known.calls) addTo(answers, `${line} ${name}`, rows.get(to));
    const facts = repo.facts(file);
    const edges: ExactEdge[] = [];
    /** Lines that have a call of which nothing is known, and the nodes that are reached from each line. */
    const open = new Set<number>();
    const reached = new Map<number, number[]>();
    for (let row = 0; row < facts.calls.length; row++) {
      const line = facts.calls.line(row);
      const targets = answers.get(`${line} ${calledName(facts, row)}`);
      if (!targets) open.add(line);
      for (const to of targets ?? []) {
        edges.push({ from: callerOf(file, facts.calls.symbol(row)), to, line });
        addTo(reached, line, to);
      }
    }
    const names = new Set(known.calls.filter(({ to }) => rows.has(to)).map(({ line, name }) => `${line} ${name}`));
    return {
      edges,
      replaces({ type, line }, to) {
        if ((type !== "CALLS" && type !== "MAY_CALL") || !reached.has(line)) return false;
        // The compiler's index does not cover values: a call through a property may stand on the same line.
        if (VALUES.has(NODE_LABELS[nodes.label[to] ?? 0] ?? "")) return false;
        return !open.has(line) || names.has(`${line} ${nodes.name.get(to)}`);
      },
    };
  };
}

function addTo<K>(lists: Map<K, number[]>, key: K, value: number | undefined): void {
  if (value === undefined) return;
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** Rows of the nodes with these ids. */
function nodesById(nodes: NodeColumns, wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (let row = 0; row < nodes.label.length; row++) {
    const file = nodes.file[row] ?? -1;
    if (file < 0 || file === row) continue;
    const ordinal = nodes.ordinal[row] ?? 1;
    const again = ordinal > 1 ? `~${ordinal}` : "";
    const id = `${NODE_LABELS[nodes.label[row] ?? 0]}:${nodes.qualified.get(file)}#${nodes.qualified.get(row)}${again}`;
    if (wanted.has(id)) found.set(id, row);
  }
  return found;
}

/** Whether two nodes stand for the same construction: equal nodes, or a class and its constructor. */
export function isSameMade(nodes: NodeColumns, a: number, b: number): boolean {
  if (a === b) return true;
  if (nodes.file[a] !== nodes.file[b]) return false;
  const [outer, inner] =
    (nodes.qualified.get(a) ?? "").length < (nodes.qualified.get(b) ?? "").length ? [a, b] : [b, a];
  const name = nodes.name.get(inner) ?? "";
  if (nodes.qualified.get(inner) !== `${nodes.qualified.get(outer)}.${name}`) return false;
  return name === nodes.name.get(outer) || CONSTRUCTORS.has(name);
}

const VALUES: ReadonlySet<string> = new Set(["Variable", "Const", "Property"]);

const CONSTRUCTORS: ReadonlySet<string> = new Set(["constructor", "__init__", "__construct", "<init>"]);
