/**
 * Questions about several symbols or the graph as a whole: one operation with a mode for each question. Every answer
 * lists symbols in groups. The lists are bounded, and what they leave out is counted.
 */
import type { Question } from "../../model.ts";
import { findSymbols, type SymbolView, toUnclear, type Unclear } from "../symbols.ts";
import type { WordIndex } from "../word-index.ts";
import { findCycles } from "./cycles.ts";
import { findDeadCode } from "./dead-code.ts";
import { findFlow } from "./flow.ts";
import { findPath } from "./path.ts";
import { findReaders, type KeySources } from "./reads.ts";
import { findTests } from "./tests.ts";

export interface AskOptions {
  question: Question;
  /** The subject: a symbol for `path` and `tests`, the name of a key or variable for `reads`, words for `flow`. */
  subject?: string | undefined;
  /** The other end of a path, for `path`. */
  to?: string | undefined;
  /** A folder, for `dead_code` and `cycles`: only symbols of files below it. */
  path?: string | undefined;
  /** At most this many entries in each group, 1–200. */
  limit: number;
}

/** A symbol, or a place in a file, and its relation to the entry before. */
export interface AskEntry {
  symbol: SymbolView;
  /** The line of the relation, in the file of the entry before. For `reads`, the line is in the symbol's own file. */
  line?: number;
  via?: string;
  /** How many calls lie between a test and the symbol that it covers. */
  depth?: number;
  text?: string;
}

export interface AskGroup {
  title: string;
  entries: AskEntry[];
  /** How many entries there are, including those left out. */
  total: number;
}

export interface AskResult {
  question: Question;
  /** What the groups mean, in one sentence. */
  summary: string;
  groups: AskGroup[];
  truncated: boolean;
}

export type AskAnswer = { found: "one"; answer: AskResult } | Unclear;

/** The result of one mode. `truncated` is derived from the totals. */
export type Groups = Omit<AskResult, "question" | "truncated">;

interface Sources extends Pick<KeySources, "graph" | "readText"> {
  words: WordIndex;
  loadKeys(): KeySources["keys"];
}

/** @throws RangeError if the question lacks its subject */
export function ask({ graph, words, loadKeys, readText }: Sources, options: AskOptions): AskAnswer {
  const { question, limit } = options;
  const subject = options.subject?.trim() ?? "";
  const folder = options.path ?? "";
  const toAnswer = (groups: Groups): AskAnswer => {
    const truncated = groups.groups.some(({ entries, total }) => total > entries.length);
    return { found: "one", answer: { question, ...groups, truncated } };
  };
  switch (question) {
    case "dead_code":
      return toAnswer(findDeadCode(graph, folder, limit));
    case "cycles":
      return toAnswer(findCycles(graph, folder, limit));
    case "reads":
      return toAnswer(findReaders({ graph, keys: loadKeys(), readText }, requireText(subject, question), limit));
    case "flow":
      return toAnswer(findFlow(graph, words, requireText(subject, question), limit));
    case "tests": {
      const rows = findSymbols(graph, requireText(subject, question));
      if (rows.length !== 1) return toUnclear(graph, subject, rows);
      return toAnswer(findTests(graph, rows[0]!, limit));
    }
    case "path": {
      const from = findSymbols(graph, requireText(subject, question));
      const other = requireText(options.to?.trim() ?? "", question, "to");
      const to = findSymbols(graph, other);
      if (from.length === 0) return toUnclear(graph, subject, from);
      if (to.length === 0) return toUnclear(graph, other, to);
      return toAnswer(findPath(graph, from, to));
    }
  }
}

function requireText(text: string, question: Question, what = "subject"): string {
  if (text === "") throw new RangeError(`The question ${question} needs ${what}.`);
  return text;
}
