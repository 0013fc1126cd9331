/** Who reads a configuration key or an environment variable: the name in quotes, or as a member of a settings object. */
import type { CodeGraph } from "../../code-graph.ts";
import { isTestPath } from "../../test-paths.ts";
import type { AskEntry, Groups } from "./ask.ts";

/** Text of a source file, "" when it cannot be read. */
export type ReadText = (path: string) => string;

const MAX_TEXT = 160;
/** What stands before a name where a variable of the environment is read by member. */
const ENVIRONMENT = /(\benv(iron)?\.|\bENV\.|\bgetenv\W*|\bEnv(ironment)?\W*)$/i;

export function findReaders(graph: CodeGraph, name: string, readText: ReadText, limit: number): Groups {
  const product: AskEntry[] = [];
  const tests: AskEntry[] = [];
  for (let file = 0; file < graph.nodeCount && graph.label(file) === "File"; file++) {
    const path = graph.nodes.qualified[file]!;
    const text = readText(path);
    if (!text.includes(name)) continue;
    for (const { line, source } of mentionsIn(text, name)) {
      const entry: AskEntry = { symbol: graph.node(enclosing(graph, file, line)), line, text: source };
      (isTestPath(path) ? tests : product).push(entry);
    }
  }
  const shown = (title: string, entries: AskEntry[]) => ({
    title,
    entries: entries.slice(0, limit),
    total: entries.length,
  });
  const groups = [shown("read in", product), shown("in tests", tests)].filter(({ total }) => total > 0);
  return {
    summary:
      groups.length === 0 ? `No source names ${name} as a key or variable.` : `${product.length} places name it.`,
    groups,
  };
}

/** Lines that hold a name as a text of its own, as a key, or as a member of the environment or of settings. */
function* mentionsIn(text: string, name: string): Generator<{ line: number; source: string }> {
  let line = 1;
  let counted = 0;
  let last = 0;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    if (!isMention(text, at, name)) continue;
    for (; counted < at; counted++) if (text.charCodeAt(counted) === 10) line++;
    if (line === last) continue;
    last = line;
    const from = text.lastIndexOf("\n", at) + 1;
    const end = text.indexOf("\n", at);
    yield {
      line,
      source: text
        .slice(from, end < 0 ? text.length : end)
        .trim()
        .slice(0, MAX_TEXT),
    };
  }
}

const WORD = /[\p{L}\p{N}_$]/u;
const isQuote = (mark: string | undefined): boolean => mark === '"' || mark === "'" || mark === "`";

function isMention(text: string, at: number, name: string): boolean {
  const before = text[at - 1] ?? "";
  const after = text[at + name.length] ?? "";
  if (isQuote(before) && isQuote(after)) return true;
  if (WORD.test(before) || WORD.test(after)) return false;
  const head = text.slice(Math.max(0, at - 24), at);
  // A key of settings: `settings.port`, `config["port"]` is quoted, `{ port: … }` sets it and is no reading.
  return ENVIRONMENT.test(head) || /\b(config|configuration|settings|options|conf|cfg)\w*\.$/i.test(head);
}

/** The innermost symbol around a line, or the file. */
function enclosing(graph: CodeGraph, file: number, line: number): number {
  let found = file;
  let size = Number.POSITIVE_INFINITY;
  for (const edge of graph.incoming(file)) {
    const row = graph.edges.from[edge]!;
    if (graph.nodes.file[row] !== file || row === file) continue;
    const [start, end] = [graph.nodes.startLine[row]!, graph.nodes.endLine[row]!];
    if (start > line || end < line || end - start >= size) continue;
    if (!/^(Function|Method|Class|Struct|Const|Variable|Property)$/.test(graph.label(row))) continue;
    size = end - start;
    found = row;
  }
  return found;
}
