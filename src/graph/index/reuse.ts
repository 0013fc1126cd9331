/**
 * Edges that an index takes over from the previous one: those of files that no edit can have changed, with the rows
 * of the new graph.
 */

import { type NodeColumns, symbolRowsOf } from "../code-graph.ts";
import { unpackFacts } from "../language/facts.ts";
import { affectedFiles } from "../resolve/affected.ts";
import { createMentions } from "../resolve/mentions.ts";
import type { SourceFile } from "../resolve/repository.ts";
import { Resolution } from "../resolve/resolution.ts";
import type { CachedFile, FactCache } from "../store/fact-cache.ts";
import { type FoundEdges, readFoundEdges } from "../store/snapshot.ts";
import { addSymbols, GraphBuilder } from "./structure.ts";

interface ReuseInput {
  /** Facts and snapshot of the previous index. */
  cache: FactCache;
  readSnapshot(): Uint8Array;
  /** All files of the new index; `sources` are those with facts, in the same order. */
  files: readonly CachedFile[];
  sources: readonly SourceFile[];
  after: Resolution;
  configPaths: readonly string[];
  /** Hash over the configuration files now, and their texts. */
  configs: string;
  readConfig(path: string): string | undefined;
}

interface Reuse {
  /** Copies the edges of a file; false when they must be resolved again. */
  copy(file: number, builder: GraphBuilder): boolean;
}

/** Edges of the previous index that still hold; undefined when all files must be resolved again. */
export function reuseEdges(input: ReuseInput, builder: GraphBuilder): Reuse | undefined {
  const { cache, sources, after } = input;
  if (cache.files.size === 0 || cache.configs !== input.configs) return undefined;
  const packed = input.files.filter((file) => file.note === "");
  const known = Array.from(cache.files.values()).filter((file) => file.note === "");
  // Files were added or removed, or imports may lead elsewhere.
  if (known.length !== sources.length || packed.length !== sources.length) return undefined;
  const changed: number[] = [];
  const old: SourceFile[] = [];
  for (const [row, source] of sources.entries()) {
    const before = cache.files.get(source.path);
    if (!before) return undefined;
    if (packed[row]!.stored) {
      old.push(source);
      continue;
    }
    changed.push(row);
    const facts = before.note === "" ? unpackFacts(before.facts(), source.language.id) : undefined;
    if (!facts) return undefined;
    old.push({ ...source, facts });
  }
  const resolution = new Resolution({
    files: old,
    configs: input.configPaths,
    readConfig: input.readConfig,
  });
  const affected = affectedFiles({
    before: resolution.engine,
    after: after.engine,
    changed,
    mentions: createMentions(packed.length, (file) => packed[file]!.facts()),
  });
  const found = affected && readFoundEdges(input.readSnapshot());
  if (!affected || found?.start.length !== sources.length + 1) return undefined;
  const nodes = movedNodes(found, resolution, changed, builder, sources.length);
  return {
    copy: (file, into) => !affected.has(file) && copyEdges(found, file, nodes, into),
  };
}

function copyEdges(found: FoundEdges, file: number, nodes: Int32Array, builder: GraphBuilder): boolean {
  const [from, to] = [found.start[file]!, found.start[file + 1]!];
  for (let edge = from; edge < to; edge++)
    if (nodes[found.from[edge]!]! < 0 || nodes[found.to[edge]!]! < 0) return false;
  builder.startFile();
  for (let edge = from; edge < to; edge++)
    builder.addEdgeRow(
      found.type[edge]!,
      found.reason[edge]!,
      nodes[found.from[edge]!]!,
      nodes[found.to[edge]!]!,
      found.line[edge]!,
    );
  return true;
}

/** The new row of each old node; -1 for what is gone. */
function movedNodes(
  found: FoundEdges,
  before: Resolution,
  changed: readonly number[],
  builder: GraphBuilder,
  files: number,
): Int32Array {
  const moved = new Int32Array(found.nodeCount).fill(-1);
  const { first: oldFirst, count: oldCount } = found.symbolRows;
  const now = symbolRowsOf(builder.nodes.file.view, files);
  const nodes = builder.nodeColumns();
  const edited = new Set(changed);
  for (let file = 0; file < files; file++) {
    moved[file] = file;
    if (edited.has(file)) continue;
    for (let i = 0; i < oldCount[file]!; i++) moved[oldFirst[file]! + i] = now.first[file]! + i;
  }
  for (const file of changed) {
    const old = new GraphBuilder();
    addSymbols(old, before.repo, file, new Int32Array(before.repo.facts(file).symbols.length).fill(-1));
    const rows = new Map<string, number>();
    for (let i = 0; i < now.count[file]!; i++) rows.set(nodeKey(nodes, now.first[file]! + i), now.first[file]! + i);
    const oldNodes = old.nodeColumns();
    for (let i = 0; i < oldNodes.label.length; i++) moved[oldFirst[file]! + i] = rows.get(nodeKey(oldNodes, i)) ?? -1;
  }
  return moved;
}

/** Two nodes of one file with the same key stand for one symbol. */
export const nodeKey = (nodes: NodeColumns, row: number): string =>
  `${nodes.label[row]}:${nodes.qualified.get(row)}~${nodes.ordinal[row]}`;
