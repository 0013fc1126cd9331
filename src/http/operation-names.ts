/**
 * The name of an operation, from its method and path: `GET /v1/runs/{id}` is `getRun`, `POST /v1/runs/{id}/cancel` is
 * `cancelRun`. A route whose path reads badly this way says its own with `detail: { operationId }`.
 */

export interface OperationFacts {
  method: string;
  /** With `{name}` parameters. */
  path: string;
  /** Answers `{items, next_cursor}`. */
  lists: boolean;
  /** Answers 201. */
  creates: boolean;
}

interface Segment {
  words: string[];
  /** A parameter follows: it names one of many. */
  one: boolean;
}

const VERBS: Record<string, string> = { get: "get", put: "update", patch: "update", delete: "delete" };

export function operationName({ method, path, lists, creates }: OperationFacts): string {
  const segments = segmentsOf(path);
  const ofOne = path.endsWith("}");
  const last = segments.pop();
  if (!last) return `${method}Root`;
  const before = segments.flatMap(({ words, one }) => (one ? singular(words) : words));
  const noun = (words: string[]) => [...before, ...words];
  if (method === "get" && lists) return camel(["list", ...noun(last.words)]);
  if (method !== "post") return camel([VERBS[method] ?? method, ...noun(ofOne ? singular(last.words) : last.words)]);
  if (creates || ofOne) return camel(["create", ...noun(singular(last.words))]);
  return camel([...last.words, ...(before.length > 0 ? singular(before) : [])]);
}

/** Parts of paths that say where an operation is, not what it is about. */
const PLACES = new Set(["v1", "internal", "auth", "admin"]);
const SHORT: Record<string, string> = { "knowledge-graph": "graph" };

function segmentsOf(path: string): Segment[] {
  const parts = path.split("/").filter((part) => part !== "" && !PLACES.has(part));
  const named = parts[0] === "settings" && parts.length > 1 ? parts.slice(1) : parts;
  return named.flatMap((part, at) => {
    if (part.startsWith("{")) return [];
    return [{ words: (SHORT[part] ?? part).split(/[^A-Za-z0-9]+/), one: named[at + 1]?.startsWith("{") ?? false }];
  });
}

const singular = (words: string[]): string[] => [...words.slice(0, -1), singularWord(words.at(-1) ?? "")];

function singularWord(word: string): string {
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(ss|x|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return /[^su]s$/.test(word) ? word.slice(0, -1) : word;
}

const camel = (words: string[]): string =>
  words.map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join("");
