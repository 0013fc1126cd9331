/**
 * Matches a SCIP index with the graph: for each call of a file, the node that the compiler says it reaches.
 *
 * SCIP does not mark calls. A reference counts as a call if the parser saw a call of that name on the same line. A
 * document whose positions do not fit the current file is stale and left out as a whole.
 */
import type { CodeGraph } from "../code-graph.ts";
import { type FileFacts, openFacts } from "../language/facts.ts";
import { languageOf } from "../language/languages.ts";
import type { CachedFile } from "../store/fact-cache.ts";
import { calledName } from "./called-name.ts";
import type { ExactCall, ExactFile } from "./exact-references.ts";
import { type Occurrence, readScip, type ScipDocument } from "./read-scip.ts";

/** The result of an import. */
export interface ScipReport {
  /** How many files have known calls, and how many of these calls reach symbols of the folder itself. */
  files: number;
  calls: number;
  /** Documents whose file has changed since or is not in the graph: the paths of the first ones, and their number. */
  stale: string[];
  stale_count: number;
}

interface MatchInput {
  graph: CodeGraph;
  /** The graph's files, with their facts. */
  files: ReadonlyMap<string, CachedFile>;
  /** The text of a file; undefined if it cannot be read. */
  readText(path: string): string | undefined;
}

const DEFINITION = 1;
const FORWARD = 64;
/** At most this many stale documents are named in a report. */
const MAX_NAMED = 100;
/** Labels of nodes that a call can reach. The value of a variable is not covered. */
const CALLED: ReadonlySet<string> = new Set(["Function", "Method", "Class", "Struct", "Enum"]);

/** @throws ScipError if the bytes are not a SCIP index, or exceed a limit */
export function matchScip(index: Uint8Array, input: MatchInput): { files: ExactFile[]; report: ScipReport } {
  const report: ScipReport = { files: 0, calls: 0, stale: [], stale_count: 0 };
  const documents: ScipDocument[] = [];
  const linesOf = new Map<string, string[]>();
  for (const document of readScip(index)) {
    const lines = freshLines(document, input);
    if (lines) {
      documents.push(document);
      linesOf.set(document.path, lines);
      continue;
    }
    report.stale_count++;
    if (report.stale.length < MAX_NAMED) report.stale.push(document.path);
  }
  const nodes = nodesByFile(input.graph);
  const definitions = definitionsOf(documents, linesOf, input.graph, nodes);
  const files: ExactFile[] = [];
  for (const document of documents) {
    const cached = input.files.get(document.path);
    const language = languageOf(document.path);
    const facts = cached && language ? openFacts(cached.facts(), language.id)?.read() : undefined;
    if (!cached || !facts) continue;
    const calls = callsOf(document, linesOf.get(document.path) ?? [], facts, definitions);
    files.push({ path: document.path, hash: cached.hash, calls });
    report.calls += calls.length;
  }
  report.files = files.length;
  return { files, report };
}

/** The lines of a document's file; undefined if the document's positions do not fit them. */
function freshLines(document: ScipDocument, { files, readText }: MatchInput): string[] | undefined {
  const cached = files.get(document.path);
  const text = cached?.note === "" ? readText(document.path) : undefined;
  if (!cached || text === undefined || Bun.hash(Buffer.from(text)).toString(36) !== cached.hash) return undefined;
  const lines = text.split("\n");
  const counts = { defined: 0, elsewhere: 0, named: 0, other: 0 };
  for (const occurrence of document.occurrences) {
    const line = lines[occurrence.line];
    if (line === undefined) return undefined;
    // Skips occurrences that span lines or have no width, such as a whole module.
    if (occurrence.end <= occurrence.start) continue;
    const written = writtenAt(document, line, occurrence);
    if (written === "") return undefined;
    const name = nameIn(occurrence.symbol);
    if (name === "" || !WORD.test(written)) continue;
    if (occurrence.roles & DEFINITION) {
      counts.defined++;
      if (written !== name) counts.elsewhere++;
    } else if (written === name) counts.named++;
    else counts.other++;
  }
  // Nearly all definitions stand at their name. A reference may be written differently, such as through an import's
  // alias.
  const fits = counts.elsewhere * 10 <= counts.defined && counts.other <= counts.named + 1;
  return fits ? lines : undefined;
}

const WORD = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;

/** The plain name of the type, term or method at the end of a symbol; "" if there is none. */
function nameIn(symbol: string): string {
  if (symbol.startsWith("local ")) return "";
  const [, quoted, plain] = /(?:`([^`]*)`|(?<![\w$+-])([\w$+-]+))(?:#|\.|\(\+?\w*\)\.)$/.exec(symbol) ?? [];
  const name = plain ?? quoted ?? "";
  return WORD.test(name) ? name : "";
}

/** The text of an occurrence. Columns count as the document's encoding says. */
function writtenAt({ encoding }: ScipDocument, line: string, { start, end }: Occurrence): string {
  if (end < start) return "";
  if (encoding === 1) return Buffer.from(line).subarray(start, end).toString();
  if (encoding === 3) return [...line].slice(start, end).join("");
  return line.slice(start, end);
}

/** The place of a symbol in a file that declares or implements it. */
interface Placed {
  row: number;
  start: number;
  end: number;
}

/** The callable symbols of each file. */
function nodesByFile(graph: CodeGraph): ReadonlyMap<string, readonly Placed[]> {
  const found = new Map<string, Placed[]>();
  const add = (path: string, placed: Placed) => {
    const list = found.get(path);
    if (list) list.push(placed);
    else found.set(path, [placed]);
  };
  for (let row = 0; row < graph.nodeCount; row++) {
    if (!CALLED.has(graph.label(row))) continue;
    add(graph.filePath(row), { row, start: graph.nodes.startLine[row] ?? 0, end: graph.nodes.endLine[row] ?? 0 });
    const body = graph.implementation(row);
    if (body) add(graph.nodes.qualified.get(body.file) ?? "", { row, start: body.startLine, end: body.endLine });
  }
  return found;
}

type Nodes = ReturnType<typeof nodesByFile>;

/** The innermost of a file's nodes around a line, counted from 1; undefined if there is none. */
function findInnermost(graph: CodeGraph, placed: readonly Placed[], line: number, name?: string): number | undefined {
  let best: Placed | undefined;
  for (const one of placed) {
    if (line < one.start || line > one.end || (name !== undefined && graph.nodes.name.get(one.row) !== name)) continue;
    if (best === undefined || one.start >= best.start) best = one;
  }
  return best?.row;
}

/** A key for a symbol. Local symbols are unique only within their document. */
const keyOf = (path: string, symbol: string): string => (symbol.startsWith("local ") ? `${path}\n${symbol}` : symbol);

/** Node ids by symbol. "" stands for a symbol that is defined, but has no callable node. */
function definitionsOf(
  documents: readonly ScipDocument[],
  linesOf: ReadonlyMap<string, readonly string[]>,
  graph: CodeGraph,
  nodes: Nodes,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const document of documents) {
    const lines = linesOf.get(document.path) ?? [];
    const rows = nodes.get(document.path) ?? [];
    for (const occurrence of document.occurrences) {
      if ((occurrence.roles & (DEFINITION | FORWARD)) !== DEFINITION) continue;
      const name = writtenAt(document, lines[occurrence.line] ?? "", occurrence);
      const row = findInnermost(graph, rows, occurrence.line + 1, name);
      found.set(keyOf(document.path, occurrence.symbol), row === undefined ? "" : graph.id(row));
    }
  }
  return found;
}

function callsOf(
  document: ScipDocument,
  lines: readonly string[],
  facts: FileFacts,
  definitions: ReadonlyMap<string, string>,
): ExactCall[] {
  const written = new Set<string>();
  for (let row = 0; row < facts.calls.length; row++) written.add(`${facts.calls.line(row)} ${calledName(facts, row)}`);
  const calls = new Map<string, ExactCall>();
  for (const occurrence of document.occurrences) {
    if ((occurrence.roles & DEFINITION) !== 0) continue;
    const line = occurrence.line + 1;
    const name = writtenAt(document, lines[occurrence.line] ?? "", occurrence);
    if (!written.has(`${line} ${name}`)) continue;
    // A symbol without a definition may be in a part of the folder that the index does not cover. One without a node is
    // a value.
    const to = definitions.get(keyOf(document.path, occurrence.symbol)) ?? "";
    if (to !== "") calls.set(`${line} ${name} ${to}`, { line, name, to });
  }
  return [...calls.values()];
}
