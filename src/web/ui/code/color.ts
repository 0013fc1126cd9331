/**
 * Splits lines of code into colored pieces. The work is bounded: long lines and long texts stay plain. It runs in
 * slices, so that keys and scrolling are not blocked. The tokenizers see one line at a time.
 */
import { StringStream } from "@codemirror/streamparser";
import type { Language } from "./languages.ts";

type Color = "keyword" | "string" | "comment" | "number" | "type" | "property";
/** A piece of a line: from, to, color. Pieces are in order and do not overlap; text outside of pieces is plain. */
export type Piece = readonly [from: number, to: number, color: Color];

/** From this many characters or tokens on, the rest of a line stays plain. */
const LINE_CHARACTERS = 1_000;
const LINE_TOKENS = 500;
/** How many lines of a text are colored. */
const MOST_LINES = 4_000;
const SLICE_MS = 8;
const TAB = 4;

/** Colors by the first word of a tokenizer's style. */
const COLORS: Record<string, Color> = {
  keyword: "keyword",
  operatorKeyword: "keyword",
  controlKeyword: "keyword",
  definitionKeyword: "keyword",
  modifier: "keyword",
  self: "keyword",
  null: "number",
  bool: "number",
  atom: "number",
  number: "number",
  unit: "number",
  string: "string",
  "string-2": "string",
  character: "string",
  regexp: "string",
  escape: "string",
  comment: "comment",
  lineComment: "comment",
  blockComment: "comment",
  type: "type",
  typeName: "type",
  className: "type",
  namespace: "type",
  builtin: "type",
  tag: "type",
  tagName: "type",
  "variable-3": "type",
  attribute: "property",
  attributeName: "property",
  property: "property",
  propertyName: "property",
  def: "property",
  meta: "comment",
  processingInstruction: "comment",
};

function colorOf(style: string | null): Color | undefined {
  if (!style) return undefined;
  const [first = ""] = style.trim().split(" ", 1);
  const [name = "", kind] = first.split(".");
  if (kind === "definition" && name === "variableName") return "property";
  return COLORS[name];
}

/** The pieces of one line. `state` is modified, and the next line continues with it. */
export function colorLine(language: Language, line: string, state: unknown): Piece[] {
  const text = line.slice(0, LINE_CHARACTERS);
  if (text === "") {
    language.blankLine?.(state, TAB);
    return [];
  }
  const stream = new StringStream(text, TAB, TAB);
  const pieces: Piece[] = [];
  let empty = 0;
  for (let tokens = 0; !stream.eol() && tokens < LINE_TOKENS; tokens++) {
    stream.start = stream.pos;
    const color = colorOf(language.token(stream, state));
    // A tokenizer may change only its state without consuming text, but not endlessly.
    if (stream.pos > stream.start) empty = 0;
    else if (++empty > 10) stream.next();
    const last = pieces.at(-1);
    if (!color || stream.pos === stream.start) continue;
    if (last && last[1] === stream.start && last[2] === color) pieces[pieces.length - 1] = [last[0], stream.pos, color];
    else pieces.push([stream.start, stream.pos, color]);
  }
  return pieces;
}

const freeTurn = () => new Promise<void>((resolve) => setTimeout(resolve));

/**
 * @returns the pieces of each line; fewer lines than given if there are too many. @throws the reason of `signal` if it
 * aborts.
 */
export async function colorLines(
  language: Language,
  lines: readonly string[],
  signal: AbortSignal,
): Promise<Piece[][]> {
  const state = language.startState?.(TAB) ?? {};
  const colored: Piece[][] = [];
  let begun = performance.now();
  for (const line of lines.slice(0, MOST_LINES)) {
    colored.push(colorLine(language, line, state));
    if (performance.now() - begun < SLICE_MS) continue;
    await freeTurn();
    signal.throwIfAborted();
    begun = performance.now();
  }
  return colored;
}
