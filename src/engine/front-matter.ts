/**
 * Reads and edits files that people write: YAML front matter between `---` lines, then Markdown. Edits keep comments.
 * Pure.
 */
import { type Document, isCollection, isNode, parseDocument } from "yaml";
import { isObject } from "../core/is-object.ts";
import { readYaml, type SourceProblem, type YamlText } from "./yaml-text.ts";

export interface FrontMatter {
  /** The front matter's values; empty when there is none or it is broken. */
  data: Record<string, unknown>;
  /** The text below the front matter. */
  body: string;
  problems: SourceProblem[];
  /** Locates problems in the values; undefined without front matter. */
  yaml?: YamlText;
}

interface Parts {
  yaml: string;
  body: string;
  newline: string;
}

function split(text: string): Parts | undefined {
  const plain = text.replace(/^\uFEFF/, "");
  const newline = plain.startsWith("---\r\n") ? "\r\n" : "\n";
  const open = `---${newline}`;
  if (!plain.startsWith(open)) return undefined;
  const rest = plain.slice(open.length);
  if (rest.startsWith("---")) return { yaml: "", body: rest.slice(3).replace(/^\r?\n/, ""), newline };
  const end = rest.indexOf(`${newline}---`);
  const after = end < 0 ? undefined : rest.slice(end + newline.length + 3);
  if (after === undefined || (after !== "" && !/^[ \t]*\r?\n/.test(after))) return undefined;
  return { yaml: rest.slice(0, end + newline.length), body: after.replace(/^[ \t]*\r?\n/, ""), newline };
}

/** Reads a file's text. Never throws. */
export function readFrontMatter(text: string): FrontMatter {
  const parts = split(text);
  if (!parts) {
    const open = /^\uFEFF?---\r?\n/.test(text);
    const problem = { line: 1, column: 1, pointer: "", message: "The front matter is opened by --- and never closed." };
    return { data: {}, body: text, problems: open ? [problem] : [] };
  }
  const yaml = readYaml(parts.yaml, 2);
  const { value } = yaml;
  const { problems } = yaml;
  if (value === undefined && problems.length > 0) return { data: {}, body: parts.body, problems, yaml };
  if (value === null || value === undefined) return { data: {}, body: parts.body, problems, yaml };
  if (!isObject(value)) {
    const problem = { line: 2, column: 1, pointer: "", message: "The front matter must be `key: value` lines." };
    return { data: {}, body: parts.body, problems: [...problems, problem], yaml };
  }
  return { data: value, body: parts.body, problems, yaml };
}

/**
 * Returns the text with these values changed; undefined removes a key. Comments, order and the body stay.
 * @param body replaces the text below the front matter when given.
 * @throws Error when the front matter is broken: repair it first.
 */
export function updateFrontMatter(text: string, patch: Readonly<Record<string, unknown>>, body?: string): string {
  const parts = split(text);
  if (readFrontMatter(text).problems.length > 0) throw new Error("the front matter is broken");
  const changes = Object.entries(patch);
  const newline = parts?.newline ?? "\n";
  const head = parts && changes.length === 0 ? parts.yaml : changeYaml(parts?.yaml ?? "", changes, newline);
  return `---${newline}${head}---${newline}${body ?? parts?.body ?? text}`;
}

function changeYaml(yaml: string, changes: [string, unknown][], newline: string): string {
  const document: Document = parseDocument(yaml.replaceAll("\r\n", "\n"), { logLevel: "error" });
  if (document.contents === null) document.contents = document.createNode({});
  for (const [key, value] of changes) {
    if (value === undefined) document.delete(key);
    else setKeepingStyle(document, key, value);
  }
  const empty = isCollection(document.contents) && document.contents.items.length === 0;
  const out = empty ? "" : document.toString({ lineWidth: 0, flowCollectionPadding: false });
  return out.replaceAll("\n", newline);
}

/** Replaces a value but keeps its comments and, for a list, its style (brackets or dashes). */
function setKeepingStyle(document: Document, key: string, value: unknown): void {
  const before: unknown = document.get(key, true);
  const node = document.createNode(value);
  if (isNode(before) && isNode(node)) {
    node.comment = before.comment ?? null;
    node.commentBefore = before.commentBefore ?? null;
    if (isCollection(before) && isCollection(node)) node.flow = before.flow ?? false;
  }
  document.set(key, node);
}
