/** Suggests keys and values in a pipeline's text, from the JSON Schema that the server validates it with. */
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";

/** The part of JSON Schema that the server's schema uses. */
export interface Schema {
  description?: string;
  type?: string;
  const?: unknown;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

interface Suggestion {
  label: string;
  info?: string | undefined;
}

interface Line {
  indent: number;
  /** Undefined for a list item that is not a mapping. */
  key: string | undefined;
  item: boolean;
}

/**
 * Parses a line's indentation and key. The keys of an item such as `- id: do` are indented two columns more than its
 * dash.
 */
function lineOf(text: string): Line | undefined {
  const match = /^(\s*)((?:-\s+)*)(?:([\w-]+):)?/.exec(text);
  if (!match || text.trim() === "" || text.trim().startsWith("#")) return undefined;
  const [, blanks = "", dashes = "", key] = match;
  return { indent: blanks.length + dashes.length, key, item: dashes !== "" };
}

/** The keys that enclose a position, outermost first. "[]" stands for a list. */
export function pathAt(lines: readonly string[], at: number, indent: number, item: boolean): string[] {
  const path: string[] = item ? ["[]"] : [];
  let limit = item ? indent - 1 : indent;
  let inItem = item;
  for (let row = at - 1; row >= 0; row -= 1) {
    const line = lineOf(lines[row] ?? "");
    if (!line) continue;
    if (line.indent === limit && !inItem && line.item) {
      path.unshift("[]");
      limit = line.indent - 1;
      inItem = true;
    } else if (line.key !== undefined && (line.indent < limit || (inItem && line.indent <= limit))) {
      path.unshift(line.key);
      limit = line.indent;
      inItem = false;
      if (line.item) {
        path.unshift("[]");
        limit = line.indent - 1;
        inItem = true;
      }
    }
  }
  return path;
}

const listVariants = (schema: Schema): Schema[] => (schema.anyOf ? schema.anyOf.flatMap(listVariants) : [schema]);

/** The schemas that apply at a path. */
export function schemasAt(root: Schema, path: readonly string[]): Schema[] {
  return path.reduce<Schema[]>(
    (now, name) =>
      now.flatMap((schema) => {
        const next =
          name === "[]"
            ? schema.items
            : (schema.properties?.[name] ?? Object.values(schema.patternProperties ?? {})[0]);
        return next ? listVariants(next) : [];
      }),
    listVariants(root),
  );
}

export function keysOf(schemas: readonly Schema[]): Suggestion[] {
  const all = schemas.flatMap(({ properties = {} }) => Object.entries(properties));
  return [...new Map(all)].map(([label, { description }]) => ({ label, info: description }));
}

export function valuesOf(schemas: readonly Schema[]): Suggestion[] {
  return schemas.flatMap((schema) => {
    if (schema.const !== undefined) return [{ label: String(schema.const), info: schema.description }];
    return schema.type === "boolean" ? [{ label: "true" }, { label: "false" }] : [];
  });
}

interface Known {
  /** Undefined until the server has answered. */
  schema: Schema | undefined;
  agents: readonly Suggestion[];
  models: readonly Suggestion[];
}

/** @param getKnown called whenever suggestions are needed, because its data may arrive after the editor was created. */
export const completePipeline =
  (getKnown: () => Known) =>
  (context: CompletionContext): CompletionResult | null => {
    const { schema, agents, models } = getKnown();
    if (!schema) return null;
    const { doc } = context.state;
    const line = doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const lines = doc.toString().split("\n");
    const at = line.number - 1;
    const value = /^(\s*(?:-\s+)*)([\w-]+):\s+(\S*)$/.exec(before);
    if (value) {
      const [, lead = "", key = "", typed = ""] = value;
      const own = key === "agent" ? agents : key === "model" ? models : [];
      const path = [...pathAt(lines, at, lead.length, lead.includes("-")), key];
      const options = [...own, ...valuesOf(schemasAt(schema, path))];
      return options.length > 0
        ? { from: context.pos - typed.length, options: options.map(toCompletion("constant")) }
        : null;
    }
    const start = /^(\s*(?:-\s+)*)([\w-]*)$/.exec(before);
    if (!start) return null;
    const [, lead = "", typed = ""] = start;
    if (typed === "" && !context.explicit) return null;
    const keys = keysOf(schemasAt(schema, pathAt(lines, at, lead.length, lead.includes("-"))));
    if (keys.length === 0) return null;
    const options = keys.map(({ label, info }) => ({
      ...toCompletion("property")({ label, info }),
      apply: `${label}: `,
    }));
    return { from: context.pos - typed.length, options };
  };

const toCompletion =
  (type: string) =>
  ({ label, info }: Suggestion) => ({ label, type, ...(info ? { info } : {}) });
