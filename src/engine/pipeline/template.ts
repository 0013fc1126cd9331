/**
 * Replaces `{{ path.to.value }}` by its value: no code, no filters, and inserted values are not searched again. A
 * quoted text, `{{ "{{" }}`, stands for itself.
 */
import { LIMITS } from "../../core/limits.ts";
import { parsePath, readPath } from "./path.ts";

type TemplatePart =
  | { kind: "text"; text: string }
  /** `offset`: position of the expression in the template, in characters. */
  | { kind: "path"; path: string[]; offset: number };

interface Template {
  parts: TemplatePart[];
  problems: { offset: number; message: string }[];
}

const OPEN = "{{";
const CLOSE = "}}";
/** The longest expression, in characters. */
const EXPRESSION = 1_000;

/** Splits a template. Each invalid expression gives a problem, and the parts are then incomplete. */
export function parseTemplate(template: string): Template {
  const parts: TemplatePart[] = [];
  const problems: Template["problems"] = [];
  const addText = (text: string) => {
    if (text !== "") parts.push({ kind: "text", text });
  };
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf(OPEN, at);
    if (open < 0) break;
    addText(template.slice(at, open));
    const quoted = /^\s{0,20}(?:"([^"\n]{0,200})"|'([^'\n]{0,200})')\s{0,20}\}\}/.exec(
      template.slice(open + 2, open + 300),
    );
    if (quoted) {
      addText(quoted[1] ?? quoted[2] ?? "");
      at = open + 2 + quoted[0].length;
      continue;
    }
    const close = template.slice(open, open + EXPRESSION).indexOf(CLOSE);
    if (close < 0) {
      problems.push({
        offset: open,
        message: 'This "{{" is never closed. Write {{ "{{" }} for the braces themselves.',
      });
      return { parts, problems };
    }
    const expression = template.slice(open + 2, open + close).trim();
    const path = parsePath(expression);
    if (path) parts.push({ kind: "path", path, offset: open });
    else problems.push({ offset: open, message: `"${shorten(expression)}" is not a variable.` });
    at = open + close + 2;
  }
  addText(template.slice(at));
  return { parts, problems };
}

const shorten = (expression: string): string => (expression.length > 60 ? `${expression.slice(0, 60)}…` : expression);

/** A value as text: nothing for a missing value, JSON for lists and objects. */
function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}

/** A value for people: like `asText`, but lists and objects become nested Markdown lists. */
export function asMarkdown(value: unknown, depth = 0): string {
  if (typeof value !== "object" || value === null || depth > MARKDOWN_DEPTH) return asText(value);
  if (Array.isArray(value)) return value.map((one) => `- ${indent(asMarkdown(one, depth + 1))}`).join("\n");
  const parts = Object.entries(value).map(([name, one]) => {
    const text = asMarkdown(one, depth + 1);
    const nested = typeof one === "object" && one !== null && text !== "";
    return `**${name}**: ${nested ? `\n${text}` : text}`;
  });
  // Two trailing spaces are a line break in Markdown.
  return parts.join("  \n");
}
const MARKDOWN_DEPTH = 4;
const indent = (text: string): string => text.replaceAll("\n", "\n  ");

/**
 * Inserts the variables into the template. The result has at most `LIMITS.textCharacters`, then a line that counts what
 * was cut off.
 * @param put turns a value into text.
 */
export function renderTemplate(template: string, scope: unknown, put: (value: unknown) => string = asText): string {
  let out = "";
  let omitted = 0;
  for (const part of parseTemplate(template).parts) {
    const text = part.kind === "text" ? part.text : put(readPath(scope, part.path));
    const room = LIMITS.textCharacters - out.length;
    out += text.slice(0, room);
    omitted += Math.max(0, text.length - room);
  }
  return omitted > 0 ? `${out}\n[${omitted} characters left out]` : out;
}

/** The path when the template consists of one variable only; else null. */
export function soleVariable(template: string): string[] | null {
  const { parts, problems } = parseTemplate(template.trim());
  const only = parts[0];
  return problems.length === 0 && parts.length === 1 && only?.kind === "path" ? only.path : null;
}
