/**
 * Finds names in a source file that may be configuration keys or environment variables: strings, members of an
 * environment or of settings, and names in capitals. It takes one pass over the text. A file with too many names counts
 * as containing every name.
 */

/** Limits: characters of a name, names of a file, bytes of all names of a file. */
export const MAX_KEY = 100;
const MAX_NAMES = 2_000;
const MAX_BYTES = 32 * 1024;

/** Stands for a file with too many names. Such a file is searched for every key. */
export const ANY_KEY = "\n*\n";
const NO_KEYS = new Uint8Array(0);

const encoder = new TextEncoder();
const HOLDS_KEYS = /env|conf|cfg|setting|option/i;
/** The set of letters of each word, as bits. */
const HOLDERS = ["env", "conf", "cfg", "setting", "option"].map((word) =>
  Array.from(word, (letter) => 1 << (letter.charCodeAt(0) & 31)).reduce((bits, bit) => bits | bit),
);

/**
 * Describes each ASCII character of a word by bits: its letter (bit 1 for `a` and `A`, bit 31 for `_`), and whether it
 * is a lower-case letter or a digit. 0 for characters that are in no word.
 */
const [SMALL, DIGIT] = [1, 1 << 30];
const BITS = Int32Array.from({ length: 128 }, (_, code) => {
  if (code >= 48 && code <= 57) return DIGIT;
  const isSmall = code >= 97 && code <= 122;
  return isSmall || (code >= 65 && code <= 90) || code === 95 ? (1 << (code & 31)) | (isSmall ? SMALL : 0) : 0;
});
const bitsOf = (code: number): number => BITS[code] ?? 0;
const isWord = (code: number): boolean => bitsOf(code) !== 0;

function mayHold(letters: number): boolean {
  for (const bits of HOLDERS) if ((letters & bits) === bits) return true;
  return false;
}
/** At most this many characters may stand between the holder and the name: `env.X`, `env::X`, `getenv("X`. */
const MAX_GAP = 3;

const [QUOTE, APOSTROPHE, BACKTICK, BRACE, DOLLAR, SLASH, COLON] = [34, 39, 96, 123, 36, 47, 58];

/**
 * @returns the names in UTF-8, one per line, with a line end before the first and after the last; empty if there are
 * none
 */
export function keyNamesOf(text: string): Uint8Array {
  const names = new Set<string>();
  let bytes = 1;
  let holderEnd = -1;
  for (let at = 0; at < text.length; at++) {
    let letters = bitsOf(text.charCodeAt(at));
    if (letters === 0 || letters === DIGIT) continue;
    const start = at;
    // Collects the letters of the word. Few words contain all letters of a holder, and only these are compared with it.
    for (let more = letters; more !== 0; more = bitsOf(text.charCodeAt(++at))) letters |= more;
    const before = start > 0 ? text.charCodeAt(start - 1) : 0;
    const quoted = before === QUOTE || before === APOSTROPHE || before === BACKTICK;
    const inserted = before === BRACE && text.charCodeAt(start - 2) === DOLLAR;
    const length = at - start;
    if (length <= MAX_KEY) {
      const held = holderEnd >= 0 && start - holderEnd <= MAX_GAP;
      const capitals = (letters & SMALL) === 0 && length > 1 && text.charCodeAt(start) <= 90;
      if (quoted || inserted || held || capitals) {
        const name = quoted
          ? longName(text, start, COLON)
          : inserted
            ? longName(text, start, SLASH)
            : text.slice(start, at);
        const known = names.size;
        if (names.add(name).size > known) bytes += name.length + 1;
        if (names.size > MAX_NAMES || bytes > MAX_BYTES) return encoder.encode(ANY_KEY);
      }
      holderEnd = mayHold(letters) && HOLDS_KEYS.test(text.slice(start, at)) ? at : -1;
    }
    at--;
  }
  return names.size === 0 ? NO_KEYS : encoder.encode(`\n${[...names].join("\n")}\n`);
}

/**
 * Extends a name by the punctuation that keys may contain (`app.cache-size`, `Section:Key`).
 * @param last the highest character code of punctuation to accept; SLASH excludes the colon, as in `${a.b:3}`
 */
function longName(text: string, start: number, last: number): string {
  let end = start;
  while (end - start < MAX_KEY && (isWord(text.charCodeAt(end)) || isInner(text.charCodeAt(end), last))) end++;
  return text.slice(start, end);
}

const isInner = (code: number, last: number): boolean =>
  code <= last && ((code >= 45 && code <= SLASH) || code === COLON);

const KEY = /^[A-Za-z_][\w.:/-]{0,99}$/;
/** Whether a text can be the name of a key. */
export const isKeyName = (name: string): boolean => KEY.test(name);
