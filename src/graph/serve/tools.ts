/**
 * The agent tools: their schemas, and their answers as compact text for a context window (at most 4 kB unless asked for
 * more). What is left out is counted. The data are those of the endpoints.
 */
import { isAbsolute } from "node:path";
import { QUESTIONS } from "../model.ts";
import type { AskAnswer } from "../query/ask/ask.ts";
import type { Changes } from "../query/changes.ts";
import type { ContextAnswer, Relation } from "../query/context.ts";
import type { ImpactAnswer } from "../query/impact.ts";
import type { SearchAnswer } from "../query/search.ts";
import type { RelatedSymbol, SymbolView } from "../query/symbols.ts";

/** Limit of an answer by default, bytes. Together with a note on how old the index is, it is 4 kB. */
const DEFAULT_ANSWER_BYTES = 3_850;

export interface ToolSchema {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  input: { type: "object"; properties: Record<string, unknown>; required: string[]; additionalProperties: false };
}

const text = (description: string) => ({ type: "string", minLength: 1, maxLength: 1_000, description });
const whole = (minimum: number, maximum: number, preset: number) => ({
  type: "integer",
  minimum,
  maximum,
  default: preset,
});

const TOOLS = [
  {
    name: "code_graph_query",
    description:
      "Searches the code graph by words or by a name: functions, classes and execution flows, each with path:line. Use it before grep when you look for where something is done; the words need not be spelled as in the code.",
    properties: { query: text("Words or a name."), limit: whole(1, 50, 10) },
    required: ["query"],
  },
  {
    name: "code_graph_context",
    description:
      "Shows one symbol: who calls it, what it calls, its execution flows and its cluster, each with path:line. Use it before you change or call something.",
    properties: {
      symbol_name: text("Name, Class.method or id."),
      file_path: text("Which one, if several have the name."),
    },
    required: ["symbol_name"],
  },
  {
    name: "code_graph_impact",
    description:
      "Shows what a change of a symbol reaches, by depth (1: will break, 2: likely affected, then: may be affected), with the execution flows concerned and the risk. Use it before you change what others use.",
    properties: {
      target: text("Name, Class.method or id."),
      direction: {
        type: "string",
        enum: ["upstream", "downstream"],
        default: "upstream",
        description: "upstream: what depends on the target; downstream: what it depends on.",
      },
      max_depth: whole(1, 10, 3),
    },
    required: ["target"],
  },
  {
    name: "code_graph_ask",
    description:
      "Answers a question about the code as a whole. path: how `subject` reaches `to`, call by call. tests: which tests cover `subject`. dead_code: what nothing uses. cycles: modules that import each other. reads: who reads the configuration key or environment variable `subject`. flow: the chain of calls that `subject`, a question in words, is about.",
    properties: {
      question: { type: "string", enum: QUESTIONS, description: "Which question." },
      subject: text("A symbol, the name of a key or variable, or words; see the question."),
      to: text("The symbol at the other end of a path."),
      path: text("Only below this folder: dead_code and cycles."),
      limit: whole(1, 200, 30),
    },
    required: ["question"],
  },
  {
    name: "code_graph_changes",
    description:
      "Shows which symbols and execution flows the uncommitted changes of the working copy touch, with the risk. Use it before you finish, to see what to test.",
    properties: {},
    required: [],
  },
] as const;

/** The argument that names a project, on a server with several projects. By default, the project of the work. */
const PROJECT = { type: "string", maxLength: 100, description: "Id of the project; the one you work on when absent." };

/**
 * The tools as agents and MCP clients see them.
 * @param project whether to add the argument `projectId`; false for a server of one repository
 */
export const toolSchemas = (project: boolean): ToolSchema[] =>
  TOOLS.map(({ name, description, properties, required }) => ({
    name,
    description,
    input: {
      type: "object",
      properties: project ? { projectId: PROJECT, ...properties } : properties,
      required: [...required],
      additionalProperties: false,
    },
  }));

/** Collects lines up to a limit. Lines that do not fit are counted. */
class Answer {
  private readonly lines: string[] = [];
  private left = 0;
  private bytes = 0;
  private readonly limit: number;
  constructor(limit: number) {
    this.limit = limit - 60;
  }
  add(line: string): void {
    const size = Buffer.byteLength(line) + 1;
    if (this.left > 0 || this.bytes + size > this.limit) {
      this.left++;
      return;
    }
    this.bytes += size;
    this.lines.push(line);
  }
  text(): string {
    return this.left === 0 ? this.lines.join("\n") : `${this.lines.join("\n")}\n… ${this.left} more lines left out`;
  }
}

function declaredAt(symbol: SymbolView): string {
  const path = symbol.file_path || symbol.qualified_name;
  return isAbsolute(path) ? path : symbol.start_line > 0 ? `${path}:${symbol.start_line}` : path;
}

/**
 * The place of a symbol. If its implementation is separate, that comes first, because the lines of its calls are there.
 */
function place(symbol: SymbolView): string {
  const { implementation } = symbol;
  if (!implementation) return declaredAt(symbol);
  return `${implementation.file_path}:${implementation.start_line} (declared ${declaredAt(symbol)})`;
}

/** A symbol's name and place. A file's name is its place. */
function nameSymbol(symbol: SymbolView): string {
  return symbol.label === "File" ? symbol.qualified_name : `${symbol.qualified_name} ${place(symbol)}`;
}

function formatHead(symbol: SymbolView): string {
  return `${symbol.label} ${nameSymbol(symbol)}`;
}

const MAX_LIST = 25;

function addList(answer: Answer, title: string, symbols: readonly RelatedSymbol[], total: number): void {
  if (symbols.length === 0) return;
  answer.add(`${title} (${total}):`);
  for (const symbol of symbols.slice(0, MAX_LIST)) {
    const doubt = symbol.reason === "exact" ? " exact" : symbol.confidence < 0.9 ? ` ?${symbol.confidence}` : "";
    const at = symbol.lines ? ` at lines ${symbol.lines.join(", ")}` : symbol.line ? ` at line ${symbol.line}` : "";
    answer.add(`  ${nameSymbol(symbol)}${at}${doubt}`);
  }
  if (total > MAX_LIST) answer.add(`  … ${total - MAX_LIST} more`);
}

export function queryText(result: SearchAnswer, limit = DEFAULT_ANSWER_BYTES): string {
  const answer = new Answer(limit);
  if (result.items.length === 0) answer.add("nothing found");
  for (const { symbol, community } of result.items) {
    answer.add(`${formatHead(symbol)}${community ? ` [${community.label}]` : ""}`);
    if (symbol.doc) answer.add(`  ${symbol.doc.slice(0, 160)}`);
  }
  if (result.processes.length > 0) answer.add("flows:");
  for (const process of result.processes) answer.add(`  ${process.label} (${process.step_count} steps)`);
  return answer.text();
}

/** The answer for a name that means none or several symbols. */
function formatUnclear(
  result: { found: "several"; candidates: readonly SymbolView[] } | { found: "none"; near: readonly string[] },
  limit: number,
): string {
  const answer = new Answer(limit);
  if (result.found === "none") {
    answer.add("no such symbol");
    if (result.near.length > 0) answer.add(`near names: ${result.near.join(", ")}`);
  } else {
    answer.add(`${result.candidates.length} symbols of that name; name its file as well, or give the qualified name:`);
    for (const symbol of result.candidates) answer.add(`  ${formatHead(symbol)}`);
  }
  return answer.text();
}

/** The lists of a context, most important first. */
const LISTS: readonly (readonly [Relation, string])[] = [
  ["callers", "callers"],
  ["callees", "callees"],
  ["extends", "extends"],
  ["implemented_by", "implemented or extended by"],
  ["members", "members"],
  ["used_by", "used by"],
  ["uses", "uses"],
  ["imports", "imports"],
  ["imported_by", "imported by"],
];

export function contextText(result: ContextAnswer, limit = DEFAULT_ANSWER_BYTES): string {
  if (result.found !== "one") return formatUnclear(result, limit);
  const { context } = result;
  const answer = new Answer(limit);
  const { symbol } = context;
  answer.add(symbol.implementation ? formatHead(symbol) : `${formatHead(symbol)}-${symbol.end_line}`);
  if (symbol.signature) answer.add(symbol.signature);
  if (symbol.doc) answer.add(symbol.doc);
  const { unread } = context;
  if (unread)
    answer.add(
      `careful: ${unread.lines} of ${unread.of} lines of this file could not be read; search its text as well`,
    );
  if (context.community) answer.add(`cluster: ${context.community.label} (${context.community.symbol_count} symbols)`);
  for (const [relation, title] of LISTS) addList(answer, title, context[relation], context.totals[relation]);
  if (context.processes.length > 0) answer.add(`flows (${context.totals.processes}):`);
  for (const process of context.processes.slice(0, MAX_LIST))
    answer.add(`  ${process.label}, step ${process.step ?? "?"} of ${process.step_count}`);
  return answer.text();
}

export function impactText(result: ImpactAnswer, limit = DEFAULT_ANSWER_BYTES): string {
  if (result.found !== "one") return formatUnclear(result, limit);
  const { impact } = result;
  const answer = new Answer(limit);
  const what = impact.direction === "upstream" ? "depend on it" : "it depends on";
  answer.add(`${formatHead(impact.target)}: risk ${impact.risk}; ${impact.total} symbols ${what}`);
  for (const depth of impact.depths) {
    answer.add(`depth ${depth.depth}, ${depth.label} (${depth.total}):`);
    for (const symbol of depth.symbols) answer.add(`  ${nameSymbol(symbol)}`);
  }
  if (impact.processes.length > 0) answer.add(`flows: ${impact.processes.map((process) => process.label).join("; ")}`);
  const { hidden } = impact;
  if (hidden.total > 0) {
    answer.add(`may depend on it, too: ${hidden.total} calls of this name on values whose type is not known:`);
    for (const symbol of hidden.symbols.slice(0, MAX_LIST))
      answer.add(`  ${nameSymbol(symbol)} at line ${symbol.line}`);
  }
  return answer.text();
}

export function askText(result: AskAnswer, limit = DEFAULT_ANSWER_BYTES): string {
  if (result.found !== "one") return formatUnclear(result, limit);
  const answer = new Answer(limit);
  answer.add(result.answer.summary);
  for (const { title, entries, total } of result.answer.groups) {
    answer.add(`${title} (${total}):`);
    for (const { symbol, line, via, depth, text } of entries) {
      const how = [via, depth === undefined ? "" : `depth ${depth}`, line ? `at line ${line}` : "", text].filter(
        Boolean,
      );
      answer.add(`  ${nameSymbol(symbol)}${how.length > 0 ? ` ${how.join(" ")}` : ""}`);
    }
    if (total > entries.length) answer.add(`  … ${total - entries.length} more`);
  }
  return answer.text();
}

export function changesText(changes: Changes, limit = DEFAULT_ANSWER_BYTES): string {
  const answer = new Answer(limit);
  if (changes.files.length === 0) return "no uncommitted changes";
  answer.add(`risk ${changes.risk}; ${changes.totals.files} files, ${changes.totals.symbols} symbols`);
  for (const { symbol, change, lines } of changes.symbols) {
    answer.add(
      `${change} ${nameSymbol(symbol)} lines ${lines.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join(", ")}`,
    );
  }
  if (changes.processes.length > 0)
    answer.add(`flows: ${changes.processes.map((process) => process.label).join("; ")}`);
  for (const file of changes.files) answer.add(`${file.status} ${file.path}`);
  return answer.text();
}
