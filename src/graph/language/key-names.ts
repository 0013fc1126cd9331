/**
 * Which names a source file may read as configuration keys or environment variables: texts in quotes, members of an
 * environment or of settings, names in capitals. One pass over the text; too many names count as any name.
 */

/** Longest name, most names of a file, and most bytes of them. */
export const MAX_KEY = 100;
const MAX_NAMES = 2_000;
const MAX_BYTES = 32 * 1024;

/** Stands for a file with more names than are kept: it has to be looked at whatever the name is. */
export const ANY_KEY = "\n*\n";
const NO_KEYS = new Uint8Array(0);

const encoder = new TextEncoder();
const HOLDS_KEYS = /env|conf|cfg|setting|option/i;
/** The letters of each of these, a bit each. */
const HOLDERS = ["env", "conf", "cfg", "setting", "option"].map((word) =>
  Array.from(word, (letter) => 1 << (letter.charCodeAt(0) & 31)).reduce((bits, bit) => bits | bit),
);

/**
 * What a character says of the word that it is in, a bit each: its letter (1 is `a` and `A`, 31 is `_`), and whether it is a
 * small letter or a digit. 0 for what is in no word.
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
/** Characters between the holder and the name: `env.X`, `env::X`, `getenv("X`. */
const MAX_GAP = 3;

const [QUOTE, APOSTROPHE, BACKTICK, BRACE, DOLLAR, SLASH, COLON] = [34, 39, 96, 123, 36, 47, 58];

/** @returns UTF-8, one name a line, with a line end before the first and after the last; empty for none */
export function keyNamesOf(text: string): Uint8Array {
  const names = new Set<string>();
  let bytes = 1;
  let holderEnd = -1;
  for (let at = 0; at < text.length; at++) {
    let letters = bitsOf(text.charCodeAt(at));
    if (letters === 0 || letters === DIGIT) continue;
    const start = at;
    // Which letters the word has: few words have those of a holder, and are looked at any closer.
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

/** With the marks that keys have inside, up to one of them: `app.cache-size`, `Section:Key`; in `${a.b:3}` no colon. */
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
