/**
 * Reads YAML that people write: values with positions, and problems instead of exceptions. Time and memory are bounded
 * for any text. Size, nesting and number of entries are checked on the token stream before the document is built.
 * Anchors, aliases, tags and directives are refused, so a small file cannot grow into a large value.
 */
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from "yaml";

export interface SourceProblem {
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
  /** JSON pointer into the value, "" for the whole. */
  pointer: string;
  message: string;
}

interface Place {
  line: number;
  column: number;
}

export interface YamlText {
  /** The plain value; undefined when a problem keeps it from being read. */
  value: unknown;
  problems: SourceProblem[];
  /** The position of the value at the path, or of the excerpt in its text; else of the nearest value around it. */
  locate(path: readonly (string | number)[], excerpt?: string): Place;
  /** The position of the key at the path. */
  locateKey(path: readonly (string | number)[]): Place;
}

export const YAML_LIMITS = {
  characters: 256 * 1024,
  /** Open flow brackets, or consecutive block indicators. */
  nesting: 32,
  /** Deepest indentation, in characters. */
  indentation: 128,
  /** List items and map entries in the whole text. */
  entries: 4_000,
  /** Empty lines, and spaces between keys and values. */
  blanks: 10_000,
  /** The most problems reported for one text. */
  problems: 50,
} as const;

/** JSON pointer of a path. */
export const pointerOf = (path: readonly (string | number)[]): string =>
  path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** The path of a JSON pointer. */
export const pathOf = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

const FORBIDDEN: Readonly<Record<string, string>> = {
  "&": "Anchors and aliases are not allowed.",
  "*": "Anchors and aliases are not allowed.",
  "!": "Tags are not allowed.",
  "%": "Directives are not allowed.",
};

/** Characters that begin an entry, or a value of its own. */
const COUNTED: ReadonlySet<string> = new Set([",", '"', "'", "[", "{", "|", ">"]);
/** Tokens allowed per entry: words, indicators and comments. */
const TOKENS_OF_ENTRY = 5;

/** Marks that the lexer inserts; they are not part of the text. */
const SCALAR_FOLLOWS = "\x1f";
const MARKS: ReadonlySet<string> = new Set(["\x02", "\x18", SCALAR_FOLLOWS]);

/** Finds the first forbidden or excessive thing in the text, with its offset. Linear. */
function findForbidden(text: string): { message: string; offset: number } | null {
  if (text.length > YAML_LIMITS.characters)
    return { message: `The text is longer than ${YAML_LIMITS.characters} characters.`, offset: 0 };
  const control = text.search(/[\x00-\x08\x0b\x0c\x0e-\x1f]/);
  if (control >= 0) return { message: "The text holds a control character.", offset: control };
  let offset = 0;
  let [open, inRow, entries, tokens, blanks] = [0, 0, 0, 0, 0];
  let scalar = false;
  for (const token of new Lexer().lex(text)) {
    const indicator = scalar ? "scalar" : token;
    scalar = token === SCALAR_FOLLOWS;
    if (MARKS.has(token)) continue;
    const forbidden = indicator === "scalar" ? undefined : FORBIDDEN[indicator.charAt(0)];
    if (forbidden) return { message: forbidden, offset };
    if (indicator === "[" || indicator === "{") open++;
    else if (indicator === "]" || indicator === "}") open--;
    if (indicator === "-" || indicator === "?" || indicator === ":") inRow++;
    else if (indicator.trim() !== "") inRow = 0;
    if (open < 0) return { message: "This bracket closes nothing.", offset };
    if (inRow > 0 || COUNTED.has(indicator.charAt(0))) entries++;
    if (indicator.trim() === "") blanks++;
    else tokens++;
    if (blanks > YAML_LIMITS.blanks)
      return { message: `The text has more than ${YAML_LIMITS.blanks} empty lines and spaces between words.`, offset };
    if (open > YAML_LIMITS.nesting || inRow > YAML_LIMITS.nesting)
      return { message: `The text is nested deeper than ${YAML_LIMITS.nesting} levels.`, offset };
    if (indicator.length > YAML_LIMITS.indentation && /^ +$/.test(indicator))
      return { message: `A line is indented by more than ${YAML_LIMITS.indentation} characters.`, offset };
    // The library spends a tenth of a millisecond on each misplaced token, so their number is limited too.
    if (entries > YAML_LIMITS.entries * 2 || tokens > YAML_LIMITS.entries * TOKENS_OF_ENTRY)
      return { message: `The text has more than ${YAML_LIMITS.entries} entries.`, offset };
    offset += token.length;
  }
  return null;
}

/** Reads one YAML document. Never throws. `firstLine` is the line of the file on which the text begins, from 1. */
export function readYaml(text: string, firstLine = 1): YamlText {
  const lines = new LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(Math.min(offset, text.length));
    return { line: Math.max(1, line) + firstLine - 1, column: Math.max(1, col) };
  };
  const toProblem = (offset: number, message: string): SourceProblem => ({ ...placeAt(offset), pointer: "", message });
  const refused = findForbidden(text);
  if (refused) {
    const before = text.slice(0, refused.offset).split("\n");
    const place = { line: before.length + firstLine - 1, column: (before.at(-1)?.length ?? 0) + 1 };
    const problem = { ...place, pointer: "", message: refused.message };
    return { value: undefined, problems: [problem], locate: () => place, locateKey: () => place };
  }
  let document: Document.Parsed;
  try {
    document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, logLevel: "error" });
  } catch (error) {
    const place = { line: firstLine, column: 1 };
    const problem = { ...place, pointer: "", message: error instanceof Error ? error.message : String(error) };
    return { value: undefined, problems: [problem], locate: () => place, locateKey: () => place };
  }
  const faults = [...document.errors, ...document.warnings];
  const isReadable = faults.every(({ code }) => code === "DUPLICATE_KEY");
  const problems = isReadable ? bareBraces(document).map((offset) => toProblem(offset, BRACES)) : [];
  const explained = new Set<number>();
  for (const { pos, code, message } of faults) {
    const [begin, end] = [text.lastIndexOf("\n", pos[0] - 1) + 1, text.indexOf("\n", pos[0])];
    const brace = BRACES_BEGIN.exec(text.slice(begin, end < 0 ? undefined : end));
    if (!brace)
      problems.push(toProblem(pos[0], code === "DUPLICATE_KEY" ? "This key is given twice." : firstSentence(message)));
    // The parser describes such a line as a faulty map; all its messages have this one cause.
    else if (!explained.has(begin)) problems.push(toProblem(begin + brace[0].length - 2, BRACES));
    if (brace) explained.add(begin);
  }
  problems.splice(YAML_LIMITS.problems);
  const find = (path: readonly (string | number)[], key: boolean, excerpt?: string): Place => {
    const [from, to] = rangeOf(document.contents, path, key);
    const within = excerpt ? text.slice(from, to).indexOf(excerpt) : 0;
    return placeAt(from + Math.max(0, within));
  };
  return {
    value: isReadable ? document.toJS() : undefined,
    problems,
    locate: (path, excerpt) => find(path, false, excerpt),
    locateKey: (path) => find(path, true),
  };
}

const BRACES = 'A text that begins with {{ is put into quotes: "{{ … }}". Without them YAML reads a map.';
/** Matches a line up to a value or list item that begins with two braces, including the braces. */
const BRACES_BEGIN = /^ *(?:- +)*(?:[\w.-]{1,128}: +)?\{\{/;

/** Offsets of maps whose only key is a map: YAML reads `{{ name }}` without quotes so. */
function bareBraces(document: Document.Parsed): number[] {
  const found: number[] = [];
  visit(document, {
    Map(_, map) {
      const [only, ...others] = map.items;
      if (!only || others.length > 0 || !isMap(only.key)) return undefined;
      found.push(map.range?.[0] ?? 0);
      return visit.SKIP;
    },
  });
  return found;
}

const firstSentence = (message: string): string => message.split("\n")[0] ?? message;

/** Start and end offset of the value (or its key) at the path, or of the deepest part of the path that exists. */
function rangeOf(root: Node | null, path: readonly (string | number)[], wantKey: boolean): [from: number, to: number] {
  let node: unknown = root;
  let found: Node | null = root;
  for (const [depth, part] of path.entries()) {
    let key: Node | null = null;
    if (isMap(node)) {
      const pair = node.items.find((item) => (isScalar(item.key) ? String(item.key.value) : "") === String(part));
      if (!pair) break;
      key = isNode(pair.key) ? pair.key : null;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
    } else break;
    const last = depth === path.length - 1;
    found = (wantKey && last ? key : isNode(node) ? node : null) ?? key ?? found;
  }
  return [found?.range?.[0] ?? 0, found?.range?.[1] ?? 0];
}
