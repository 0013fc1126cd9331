/** Keeping secret values out of whatever is shown, stored or sent. */

/**
 * A masked preview: at most four leading and four trailing characters, never more than a third of the value in all,
 * with an ellipsis between; short values show only the ellipsis.
 */
export function maskedPreview(value: string): string {
  const characters = [...value];
  const shown = Math.min(4, Math.floor(characters.length / 6));
  if (shown === 0) return "…";
  return `${characters.slice(0, shown).join("")}…${characters.slice(-shown).join("")}`;
}

/** Values shorter than this are not masked in text: they would blank out ordinary words. */
export const MIN_MASKED_LENGTH = 6;

export interface Masker {
  /** The text with every known secret value replaced by `[secret:NAME]`. */
  text(input: string): string;
  /** The same through every string of a JSON value (keys too). */
  json<T>(input: T): T;
  /** For text that comes in pieces: a value that is cut across pieces is found too. */
  stream(): MaskedStream;
}

export interface MaskedStream {
  /** @returns what can be shown now; the rest, which could be the start of a value, is held back. */
  push(piece: string): string;
  /** What was held back. */
  end(): string;
}

/** A masker of these name → value pairs. Longer values are replaced first; JSON-escaped and base64 forms count too. */
export function createMasker(secrets: Readonly<Record<string, string>>): Masker {
  const needles: [needle: string, shown: string][] = [];
  for (const [name, value] of Object.entries(secrets)) {
    if (value.length < MIN_MASKED_LENGTH) continue;
    const forms = new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), value.trim()]);
    for (const line of value.split(/\r?\n/)) if (line.length >= 16) forms.add(line);
    forms.add(Buffer.from(value).toString("base64"));
    for (const form of forms) if (form.length >= MIN_MASKED_LENGTH) needles.push([form, `[secret:${name}]`]);
  }
  needles.sort((a, b) => b[0].length - a[0].length);
  const text = (input: string): string => {
    let out = input;
    for (const [needle, shown] of needles) if (out.includes(needle)) out = out.replaceAll(needle, () => shown);
    return out;
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return text(value);
    if (Array.isArray(value)) return value.map(walk);
    if (value !== null && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), walk(item)]));
    return value;
  };
  /** Length of the longest tail of `held` that could be the start of a value. */
  const openTail = (held: string): number => {
    let longest = 0;
    for (const [needle] of needles)
      for (let length = Math.min(needle.length - 1, held.length); length > longest; length--)
        if (held.endsWith(needle.slice(0, length))) {
          longest = length;
          break;
        }
    return longest;
  };
  const stream = (): MaskedStream => {
    let held = "";
    return {
      push(piece) {
        if (needles.length === 0) return piece;
        held = text(held + piece);
        const keep = openTail(held);
        const shown = held.slice(0, held.length - keep);
        held = held.slice(held.length - keep);
        return shown;
      },
      end() {
        const rest = held;
        held = "";
        return rest;
      },
    };
  };
  return { text, stream, json: <T>(input: T): T => (needles.length === 0 ? input : (walk(input) as T)) };
}
