/** Changes since a commit (by default the uncommitted ones), as symbols and flows. */
import type { CodeGraph } from "../code-graph.ts";
import type { GitPlace } from "../index/git.ts";
import { languageOf } from "../language/languages.ts";
import { EDGE_TYPES, NODE_LABELS, REFERENCE_LABELS } from "../model.ts";
import { changedFiles } from "./changed-files.ts";
import { committedTexts } from "./committed-texts.ts";
import { type Risk, riskOf } from "./impact.ts";
import type { ChangedFile, Hunk } from "./read-diff.ts";
import { type ProcessView, processesOf, processView, type SymbolView } from "./symbols.ts";

export type { ChangedFile };

interface ChangedSymbol {
  symbol: SymbolView;
  change: "added" | "modified" | "deleted";
  /** Changed lines within the symbol, as [first, last]. Of a deleted symbol, its lines in the commit. */
  lines: [number, number][];
}

export interface Changes {
  /** Each list has at most 1,000 entries; `totals` counts all. */
  files: ChangedFile[];
  symbols: ChangedSymbol[];
  processes: ProcessView[];
  totals: { files: number; symbols: number; processes: number };
  /**
   * True if a list was cut, or if more source files changed than are read. The symbols of the unread files are missing.
   */
  truncated: boolean;
  risk: Risk;
}

/** Where the changes are read from. */
interface ChangesSources {
  place: GitPlace;
  /** Where the entries that were read of the working tree are remembered. */
  folder: string;
  /** The structure of files as they are in the working tree now. */
  parseNow(paths: readonly string[]): Promise<CodeGraph>;
  /** The structure of files with these texts, by path. */
  parseBefore(texts: ReadonlyMap<string, string>): Promise<CodeGraph>;
}

const MAX_LISTED = 1_000;
const MAX_PROCESSES = 50;
/** At most this many changed source files are read and compared. */
const MAX_READ = 500;
const CALLS_IN = new Set((["CALLS", "USES"] as const).map((type) => EDGE_TYPES.indexOf(type)));

/**
 * Maps changes to symbols: those of the changed files as they are now, and those of the commit that are gone.
 * Dependents come from the graph, which may be from before or after the change.
 * @param graphNow called once the changes are known, as edits meanwhile may replace the graph
 * @param base commit to compare with; HEAD if not given. Must not begin with a dash.
 * @returns undefined outside git
 */
export async function changesOf(
  graphNow: () => CodeGraph,
  sources: ChangesSources,
  base?: string,
): Promise<Changes | undefined> {
  const changed = await changedFiles(sources.place, sources.folder, base);
  if (!changed) return undefined;
  const { files, hunks } = changed;
  const source = files.filter((file) => languageOf(file.path) !== undefined);
  const read = source.slice(0, MAX_READ);
  const now = await sources.parseNow(read.filter((file) => file.status !== "deleted").map((file) => file.path));
  const edited = read.filter(({ status }) => status === "modified" || status === "deleted").map(({ path }) => path);
  const before = await sources.parseBefore(
    changed.base ? await committedTexts(sources.place, changed.base, edited) : new Map(),
  );
  const symbols = [...changedSymbols(now, before, read, hunks), ...goneSymbols(now, before, read)];
  const graph = graphNow();
  const processes = new Set<number>();
  const dependents = new Set<number>();
  for (const { symbol } of symbols) {
    const row = graph.rowOf(symbol.id);
    if (row < 0) continue;
    for (const process of processesOf(graph, row)) processes.add(process);
    for (const edge of graph.incoming(row))
      if (CALLS_IN.has(graph.edges.type[edge]!)) dependents.add(graph.edges.from[edge]!);
  }
  const touched = [...processes].sort((a, b) => a - b).slice(0, MAX_PROCESSES);
  const totals = { files: files.length, symbols: symbols.length, processes: processes.size };
  return {
    files: files.slice(0, MAX_LISTED),
    symbols: symbols.slice(0, MAX_LISTED),
    processes: touched.map((index) => processView(graph, index)),
    totals,
    truncated:
      Math.max(totals.files, totals.symbols) > MAX_LISTED ||
      totals.processes > MAX_PROCESSES ||
      source.length > read.length,
    risk: riskOf(dependents.size, symbols.length + dependents.size, processes.size, 0),
  };
}

/** The innermost symbols that hunks touch. A class counts only for changed lines that none of its members covers. */
function changedSymbols(
  now: CodeGraph,
  before: CodeGraph,
  files: readonly ChangedFile[],
  hunks: ReadonlyMap<string, readonly Hunk[]>,
): ChangedSymbol[] {
  const byFile = symbolsByFile(now, new Set(files.map((file) => file.path)));
  const found: ChangedSymbol[] = [];
  for (const file of files) {
    const lines = new Map<number, [number, number][]>();
    for (const hunk of hunks.get(file.path) ?? []) {
      for (const row of byFile.get(file.path) ?? []) {
        const from = Math.max(hunk.start, now.nodes.startLine[row]!);
        const to = Math.min(hunk.end, now.nodes.endLine[row]!);
        if (from > to) continue;
        const list = lines.get(row) ?? [];
        list.push([from, to]);
        lines.set(row, list);
      }
    }
    const isNew = file.status === "added" || file.status === "untracked";
    for (const [row, ranges] of lines) {
      if (coveredByMembers(now, row, ranges, lines)) continue;
      const known = file.status === "renamed" || before.rowOf(now.id(row)) >= 0;
      found.push({ symbol: now.node(row), change: isNew || !known ? "added" : "modified", lines: ranges });
    }
  }
  return found;
}

function symbolsByFile(graph: CodeGraph, paths: ReadonlySet<string>): Map<string, number[]> {
  const byFile = new Map<string, number[]>();
  const wanted = new Uint8Array(graph.nodeCount);
  for (const path of paths) {
    const file = graph.rowOf(`File:${path}`);
    if (file >= 0) wanted[file] = 1;
  }
  for (let row = 0; row < graph.nodeCount; row++) {
    const file = graph.nodes.file[row]!;
    if (file < 0 || wanted[file] === 0 || UNCHANGING.has(graph.nodes.label[row]!)) continue;
    const path = graph.filePath(row);
    const list = byFile.get(path);
    if (list) list.push(row);
    else byFile.set(path, [row]);
  }
  return byFile;
}

/** Labels of nodes that are not listed as changed. Files have their own list, and references belong to their owners. */
const UNCHANGING = new Set(
  NODE_LABELS.flatMap((label, row) => (label === "File" || REFERENCE_LABELS.has(label) ? [row] : [])),
);

/** Symbols of the commit that the working tree no longer has. */
function goneSymbols(now: CodeGraph, before: CodeGraph, files: readonly ChangedFile[]): ChangedSymbol[] {
  const changed = new Set(
    files.filter((file) => file.status === "modified" || file.status === "deleted").map((file) => file.path),
  );
  const found: ChangedSymbol[] = [];
  for (const rows of symbolsByFile(before, changed).values()) {
    for (const row of rows) {
      if (now.rowOf(before.id(row)) >= 0) continue;
      const symbol = before.node(row);
      found.push({ symbol, change: "deleted", lines: [[symbol.start_line, symbol.end_line]] });
    }
  }
  return found;
}

function coveredByMembers(
  graph: CodeGraph,
  row: number,
  ranges: readonly [number, number][],
  touched: ReadonlyMap<number, unknown>,
): boolean {
  const members: number[] = [];
  for (const edge of graph.outgoing(row)) {
    const member = graph.edges.to[edge]!;
    if (graph.edge(edge).type === "CONTAINS" && touched.has(member)) members.push(member);
  }
  return ranges.every(([from, to]) =>
    members.some((member) => graph.nodes.startLine[member]! <= from && graph.nodes.endLine[member]! >= to),
  );
}
