/**
 * Finds who reads a configuration key or an environment variable, and where it is set. The index knows which files
 * mention the name. These files are read as they are now.
 */
import type { CodeGraph } from "../../code-graph.ts";
import { isKeyName, MAX_KEY } from "../../language/key-names.ts";
import { basename } from "../../language/paths.ts";
import type { KeyIndex } from "../../store/key-index.ts";
import { isTestPath } from "../../test-paths.ts";
import type { SymbolView } from "../symbols.ts";
import type { AskEntry, Groups } from "./ask.ts";
import { keyPlaces, settingPlaces } from "./key-places.ts";

export interface KeySources {
  graph: CodeGraph;
  keys: KeyIndex;
  /** The text of a file; "" if it cannot be read. */
  readText(path: string): string;
}

/** Limits of one question: source files, and characters of configuration files. */
const MAX_FILES = 2_000;
const MAX_SETTINGS = 16 * 1024 * 1024;

/** @throws RangeError if the name cannot be that of a key */
export function findReaders(sources: KeySources, name: string, limit: number): Groups {
  if (!isKeyName(name))
    throw new RangeError(
      `A key has at most ${MAX_KEY} letters, digits and _ . : / -, and begins with a letter or _: "${name.slice(0, 40)}" has not.`,
    );
  const lists: Record<"reads" | "sets" | "tests", AskEntry[]> = { reads: [], sets: [], tests: [] };
  const files = sources.keys.filesWith(name);
  for (const path of files.slice(0, MAX_FILES)) {
    const file = sources.graph.rowOf(`File:${path}`);
    if (file < 0) continue;
    for (const { line, text, sets } of keyPlaces(sources.readText(path), name)) {
      const entry: AskEntry = { symbol: sources.graph.node(findInnermost(sources.graph, file, line)), line, text };
      lists[isTestPath(path) ? "tests" : sets ? "sets" : "reads"].push(entry);
    }
  }
  const unseen = files.slice(MAX_FILES).length + addSettings(sources, name, lists);
  return describe(name, lists, unseen, limit);
}

/** Adds places in configuration files. @returns how many files were not looked at */
function addSettings(
  { keys, readText }: KeySources,
  name: string,
  lists: Record<"reads" | "sets" | "tests", AskEntry[]>,
): number {
  let read = 0;
  for (const [at, path] of keys.settings.entries()) {
    if (read > MAX_SETTINGS) return keys.settings.length - at;
    const content = readText(path);
    read += content.length;
    for (const { line, text, sets } of settingPlaces(path, content, name)) {
      const entry: AskEntry = { symbol: settingsFile(path), line, text };
      lists[isTestPath(path) ? "tests" : sets ? "sets" : "reads"].push(entry);
    }
  }
  return 0;
}

/** A configuration file as an answer shows it. It is not a node of the graph. */
const settingsFile = (path: string): SymbolView => ({
  id: `File:${path}`,
  label: "File",
  name: basename(path),
  qualified_name: path,
  file_path: path,
  start_line: 0,
  end_line: 0,
  language: "",
  exported: false,
  signature: "",
  doc: "",
});

function describe(
  name: string,
  { reads, sets, tests }: Record<"reads" | "sets" | "tests", AskEntry[]>,
  unseen: number,
  limit: number,
): Groups {
  const toGroup = (title: string, entries: AskEntry[]) => ({
    title,
    entries: entries.slice(0, limit),
    total: entries.length,
  });
  const groups = [toGroup("read in", reads), toGroup("set or declared in", sets), toGroup("in tests", tests)].filter(
    ({ total }) => total > 0,
  );
  const left = unseen > 0 ? ` ${unseen} more files were not looked at.` : "";
  const summary =
    groups.length === 0
      ? `No file names ${name} as a key or variable.`
      : `${reads.length} ${reads.length === 1 ? "place reads" : "places read"} it; ${sets.length} set or declare it.`;
  return { summary: summary + left, groups };
}

const AROUND = /^(Function|Method|Class|Struct|Const|Variable|Property)$/;

/** The innermost symbol around a line, or the file itself. */
function findInnermost(graph: CodeGraph, file: number, line: number): number {
  let found = file;
  let size = Number.POSITIVE_INFINITY;
  const offer = (row: number, start: number, end: number) => {
    if (start > line || end < line || end - start >= size || !AROUND.test(graph.label(row))) return;
    size = end - start;
    found = row;
  };
  for (const edge of graph.incoming(file)) {
    const row = graph.edges.from[edge]!;
    if (graph.nodes.file[row] === file && row !== file)
      offer(row, graph.nodes.startLine[row]!, graph.nodes.endLine[row]!);
  }
  for (const body of graph.implementations) if (body.file === file) offer(body.node, body.startLine, body.endLine);
  return found;
}
