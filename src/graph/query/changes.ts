/** Uncommitted changes (or those since a base) as symbols and flows. */
import type { CodeGraph } from "../code-graph.ts";
import { type GitPlace, git, gitWithoutFilters } from "../git.ts";
import { GraphError } from "../graph-error.ts";
import { EDGE_TYPES, type EdgeType, NODE_LABELS } from "../model.ts";
import { languageOf } from "../parse/languages.ts";
import { type Risk, riskOf } from "./impact.ts";
import { type ProcessView, processesOf, processView, type SymbolView } from "./symbols.ts";

export interface ChangedFile {
  path: string;
  status: "added" | "modified" | "deleted" | "renamed" | "untracked";
  /** The earlier path of a renamed file. */
  from?: string;
}

export interface ChangedSymbol {
  symbol: SymbolView;
  change: "added" | "modified" | "deleted";
  /** Changed lines within it, as [first, last]; of the indexed text where the change removes lines. */
  lines: [number, number][];
}

export interface Changes {
  /** At most 1,000 of each list; `totals` counts all. */
  files: ChangedFile[];
  symbols: ChangedSymbol[];
  processes: ProcessView[];
  totals: { files: number; symbols: number; processes: number };
  /** True when lists were cut, or when more source files changed than were read: no symbols of those are listed. */
  truncated: boolean;
  risk: Risk;
}

/** What the changes are read from. */
export interface ChangesSources {
  place: GitPlace;
  /** An index of the working tree that is quick to compare with; the repository's own when undefined. */
  index: string | undefined;
  /** Nodes of files as they are in the working tree now. */
  structureOf(paths: readonly string[]): Promise<CodeGraph>;
}

interface Hunk {
  start: number;
  end: number;
  added: boolean;
}

const MAX_LISTED = 1_000;
const MAX_PROCESSES = 50;
/** Changed source files that are read and compared. */
const MAX_READ = 500;
const CALLS_IN = new Set(["CALLS", "USES"].map((type) => EDGE_TYPES.indexOf(type as EdgeType)));

/**
 * Maps changes to symbols: those of the changed files as they are now, and those of the graph that are gone.
 * @param base commit to compare with; HEAD when not given. Must not begin with a dash.
 * @returns undefined outside git
 */
export async function changesOf(
  graph: CodeGraph,
  sources: ChangesSources,
  base?: string,
): Promise<Changes | undefined> {
  const changed = await changedFiles(sources, base);
  if (!changed) return undefined;
  const { files, hunks } = changed;
  const source = files.filter((file) => languageOf(file.path) !== undefined);
  const read = source.slice(0, MAX_READ);
  const now = await sources.structureOf(read.filter((file) => file.status !== "deleted").map((file) => file.path));
  const symbols = [...changedSymbols(now, graph, read, hunks), ...goneSymbols(now, graph, read)];
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

const DIFF = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "-M", "-U0", "--relative"];
const UNTRACKED = ["ls-files", "-z", "--others", "--exclude-standard"];

/** @returns undefined outside git. @throws GraphError for a base that is no commit. */
async function changedFiles({ place, index }: ChangesSources, base: string | undefined) {
  const against = base ?? "HEAD";
  if (against.startsWith("-") || !/^[\w./~^@{}-]+$/.test(against)) throw new GraphError("invalid", "base is no commit");
  // At once, as each waits for the disk: what a base that is none makes of the others is not looked at.
  const [known, difference, others] = await Promise.all([
    git(place, ["rev-parse", "--verify", "--quiet", `${against}^{commit}`]),
    gitWithoutFilters(place, [...DIFF, against, "--"], index),
    git(place, UNTRACKED),
  ]);
  if (known === undefined && base) throw new GraphError("invalid", "base is no commit of this repository");
  // Before the first commit everything is new.
  const diff = known === undefined ? "" : difference;
  const untracked = known === undefined ? await git(place, [...UNTRACKED, "--cached"]) : others;
  if (diff === undefined || untracked === undefined) return undefined;
  const files: ChangedFile[] = [];
  const hunks = new Map<string, Hunk[]>();
  readDiff(diff, files, hunks);
  for (const path of untracked.split("\0")) {
    if (path === "") continue;
    files.push({ path, status: "untracked" });
    hunks.set(path, [{ start: 1, end: Number.POSITIVE_INFINITY, added: true }]);
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, hunks };
}

function readDiff(diff: string, files: ChangedFile[], hunks: Map<string, Hunk[]>): void {
  let file: ChangedFile | undefined;
  let from = "";
  for (const line of diff.split("\n")) {
    if (line.startsWith("diff --git ")) {
      file = { path: "", status: "modified" };
      from = "";
      files.push(file);
      const names = /^diff --git "?a\/(.*?)"? "?b\/(.*?)"?$/.exec(line);
      file.path = names?.[2] ?? "";
    } else if (!file) continue;
    else if (line.startsWith("new file mode")) file.status = "added";
    else if (line.startsWith("deleted file mode")) file.status = "deleted";
    else if (line.startsWith("rename from ")) from = line.slice("rename from ".length);
    else if (line.startsWith("rename to ")) {
      file.status = "renamed";
      file.path = line.slice("rename to ".length);
      file.from = from;
    } else if (line.startsWith("+++ b/")) file.path = line.slice("+++ b/".length).replace(/\t$/, "");
    else if (line.startsWith("@@")) {
      const match = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
      if (!match) continue;
      const deleted = file.status === "deleted";
      const start = Number(deleted ? match[1] : match[3]);
      const count = Number((deleted ? match[2] : match[4]) ?? "1");
      const list = hunks.get(file.path) ?? [];
      // Removed lines leave a seam: the lines around it are the change.
      list.push({
        start: Math.max(1, start),
        end: Math.max(start, start + count - 1),
        added: Number(match[2] ?? "1") === 0,
      });
      hunks.set(file.path, list);
    }
  }
}

/** Innermost symbols that hunks touch: a class counts only where no member of it does. */
function changedSymbols(
  now: CodeGraph,
  graph: CodeGraph,
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
      const known = file.status === "renamed" || graph.rowOf(now.id(row)) >= 0;
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
    if (file < 0 || wanted[file] === 0 || graph.nodes.label[row] === FILE) continue;
    const path = graph.filePath(row);
    const list = byFile.get(path);
    if (list) list.push(row);
    else byFile.set(path, [row]);
  }
  return byFile;
}

const FILE = NODE_LABELS.indexOf("File");

/** Symbols of the last index that the working tree has no more. */
function goneSymbols(now: CodeGraph, graph: CodeGraph, files: readonly ChangedFile[]): ChangedSymbol[] {
  const changed = new Set(
    files.filter((file) => file.status === "modified" || file.status === "deleted").map((file) => file.path),
  );
  const found: ChangedSymbol[] = [];
  for (const rows of symbolsByFile(graph, changed).values()) {
    for (const row of rows) {
      if (now.rowOf(graph.id(row)) >= 0) continue;
      const symbol = graph.node(row);
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
