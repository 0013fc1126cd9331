/**
 * Parses calls in Llama's pythonic form, `[ls(path="src"), read(path='a', limit=7)]`, as Llama 3.2 and 4 write them
 * (https://www.llama.com/docs/model-cards-and-prompt-formats/llama4/). Values are Python literals; a text that contains
 * anything else, such as a name or a sum, is not a call. Parsing takes one pass and has a bounded depth.
 */

export interface WrittenCall {
  tool: string;
  input: Record<string, unknown>;
}

const DEPTH_MOST = 32;
const BEGIN = /^\[\s*[A-Za-z_][\w-]*\(/;
const NAME = /[A-Za-z_][\w-]*/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["True", true],
  ["true", true],
  ["False", false],
  ["false", false],
  ["None", null],
  ["null", null],
]);
const QUOTES = ["'''", '"""', "'", '"'];
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["\n", ""],
  ["'", "'"],
  ['"', '"'],
  ["\\", "\\"],
]);

/** The text is not a list of calls. */
class NoCall extends Error {}

/** @returns undefined when the text, from its first character to its last, is not such a list. */
export function pythonicCalls(text: string): WrittenCall[] | undefined {
  if (!BEGIN.test(text)) return undefined;
  try {
    const reader = createReader(text);
    reader.expect("[");
    const calls = listUntil(reader, "]", callIn);
    return reader.isAtEnd() ? calls : undefined;
  } catch (error) {
    if (error instanceof NoCall) return undefined;
    throw error;
  }
}

type Reader = ReturnType<typeof createReader>;

/** Reads the signs, names and numbers of a text one after the other, and skips spaces between them. */
function createReader(text: string) {
  let at = 0;
  const pass = (): void => {
    while (at < text.length && " \t\r\n".includes(text[at]!)) at++;
  };
  function take(sign: string): boolean {
    pass();
    const isThere = text.startsWith(sign, at);
    if (isThere) at += sign.length;
    return isThere;
  }
  function match(pattern: RegExp): string | undefined {
    pass();
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  }
  return {
    take,
    expect(sign: string): void {
      if (!take(sign)) throw new NoCall();
    },
    number: () => match(NUMBER),
    name: (): string => {
      const found = match(NAME);
      if (found === undefined) throw new NoCall();
      return found;
    },
    /** Reads the text up to the closing quote. */
    upTo(quote: string): string {
      let said = "";
      for (; !text.startsWith(quote, at); at++) {
        if (at >= text.length) throw new NoCall();
        if (text[at] !== "\\") said += text[at];
        else {
          at++;
          // Python keeps the backslash of an unknown escape.
          said += ESCAPES.get(text[at] ?? "") ?? `\\${text[at] ?? ""}`;
        }
      }
      at += quote.length;
      return said;
    },
    isAtEnd(): boolean {
      pass();
      return at === text.length;
    },
  };
}

/** Reads items separated by commas, up to the closing sign; a trailing comma is allowed. */
function listUntil<Item>(reader: Reader, end: string, read: (reader: Reader) => Item): Item[] {
  const items: Item[] = [];
  while (!reader.take(end)) {
    items.push(read(reader));
    if (reader.take(",")) continue;
    reader.expect(end);
    break;
  }
  return items;
}

function callIn(reader: Reader): WrittenCall {
  const tool = reader.name();
  reader.expect("(");
  const given = listUntil(reader, ")", (): [string, unknown] => {
    const name = reader.name();
    reader.expect("=");
    return [name, valueIn(reader, 0)];
  });
  return { tool, input: Object.fromEntries(given) };
}

function valueIn(reader: Reader, depth: number): unknown {
  if (depth > DEPTH_MOST) throw new NoCall();
  const quote = QUOTES.find((sign) => reader.take(sign));
  if (quote !== undefined) return reader.upTo(quote);
  if (reader.take("[")) return listUntil(reader, "]", () => valueIn(reader, depth + 1));
  if (reader.take("{")) return Object.fromEntries(listUntil(reader, "}", () => memberIn(reader, depth + 1)));
  const number = reader.number();
  if (number !== undefined) return Number(number);
  const word = reader.name();
  if (!WORDS.has(word)) throw new NoCall();
  return WORDS.get(word);
}

function memberIn(reader: Reader, depth: number): [string, unknown] {
  const key = valueIn(reader, depth);
  reader.expect(":");
  if (typeof key !== "string") throw new NoCall();
  return [key, valueIn(reader, depth)];
}
