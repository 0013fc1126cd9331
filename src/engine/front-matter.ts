/** Files that people write: YAML front matter between `---` lines, then markdown. Changes keep their comments. Pure. */
import { parseDocument } from "yaml";
import { readYaml, type SourceProblem, type YamlText } from "./yaml-text.ts";

export interface FrontMatter {
  /** The front matter's values; empty when there is none or it is broken. */
  data: Record<string, unknown>;
  /** The text below it. */
  body: string;
  problems: SourceProblem[];
  /** For placing problems found in the values; undefined without front matter. */
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
  if (yaml.problems.length > 0) return { data: {}, body: parts.body, problems: yaml.problems, yaml };
  if (value === null || value === undefined) return { data: {}, body: parts.body, problems: [], yaml };
  if (typeof value !== "object" || Array.isArray(value)) {
    const problem = { line: 2, column: 1, pointer: "", message: "The front matter holds `key: value` lines." };
    return { data: {}, body: parts.body, problems: [problem], yaml };
  }
  return { data: value as Record<string, unknown>, body: parts.body, problems: [], yaml };
}

/**
 * The text with these values changed; undefined removes a key. Comments, order and the body stay.
 * @param body replaces the text below when given.
 * @throws Error when the front matter is broken: mend it first.
 */
export function updateFrontMatter(text: string, patch: Readonly<Record<string, unknown>>, body?: string): string {
  const parts = split(text);
  const document = parseDocument(parts?.yaml ?? "", { logLevel: "error" });
  if (document.errors.length > 0) throw new Error("the front matter is broken");
  if (document.contents === null) document.contents = document.createNode({}) as never;
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) document.delete(key);
    else document.set(key, document.createNode(value));
  }
  const empty = (document.toJS() ?? {}) as object;
  const yaml = Object.keys(empty).length === 0 ? "" : document.toString({ lineWidth: 0 });
  const newline = parts?.newline ?? "\n";
  return `---\n${yaml}---\n`.replaceAll("\n", newline) + (body ?? parts?.body ?? text);
}
