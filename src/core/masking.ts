/** Keeps secret values out of everything that is shown, stored or sent. */
import { MAX_NEEDLE, MIN_NEEDLE, type Needle, Needles } from "./needles.ts";
import type { Sealer } from "./sealing.ts";
import { formsOf } from "./secret-forms.ts";

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
export const MIN_MASKED_LENGTH = MIN_NEEDLE;

/** Whether the value is long enough to be masked in text. */
export const isMaskable = (value: string): boolean => value.length >= MIN_MASKED_LENGTH;

export interface Masker {
  /** The text with every known value replaced by `[secret:NAME]`; line breaks inside a value stay. */
  text(input: string): string;
  /**
   * Masks a part of a longer text. At a cut end, text that could be the rest of a value is dropped, at most 63
   * characters, so that a length limit cannot reveal most of a value.
   */
  part(input: string, cut: { before?: boolean; after?: boolean }): string;
  /** Like `text`, for every string of a JSON value, including keys. */
  json<T>(input: T): T;
  /** For text that comes in pieces. Values that are split across pieces are found, too. */
  stream(): MaskedStream;
}

export interface MaskedStream {
  /** @returns what can be shown now. The rest is held back, because it could be the start of a value. */
  push(piece: string): string;
  /** Returns what was held back. */
  end(): string;
}

/** All values known at a time. Changes take effect at once, also in streams under way. */
export interface Masking extends Masker {
  /** @returns a function that forgets the value again. Values that are too short are ignored. */
  add(name: string, value: string): () => void;
}

/** JSON nested deeper is replaced by a note. This program produces none. */
const MAX_DEPTH = 256;

export function createMasking(): Masking {
  const needles = new Needles();

  const text = (input: string): string => {
    if (needles.size === 0) return input;
    const scan = new Scan(needles);
    return scan.push(input, true);
  };
  const walk = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return text(value);
    if (value === null || typeof value !== "object") return value;
    if (depth > MAX_DEPTH) return "[nested too deep]";
    if (Array.isArray(value)) return value.map((item) => walk(item, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), walk(item, depth + 1)]));
  };
  return {
    text,
    part(input, { before = false, after = false }) {
      if (needles.size === 0) return input;
      return new Scan(needles, before ? Math.min(MAX_NEEDLE - 1, input.length) : 0).push(input, !after);
    },
    json: <T>(input: T): T => (needles.size === 0 ? input : (walk(input, 0) as T)),
    stream() {
      const scan = new Scan(needles);
      return { push: (piece) => scan.push(piece, false), end: () => scan.push("", true) };
    },
    add(name, value) {
      if (!isMaskable(value)) return () => {};
      const own = new Set<Needle>(formsOf(value).map((needle) => ({ needle, name })));
      needles.add(own);
      return () => needles.remove(own);
    },
  };
}

/** A masker of these name → value pairs. */
export function createMasker(secrets: Readonly<Record<string, string>>): Masker {
  const masking = createMasking();
  for (const [name, value] of Object.entries(secrets)) masking.add(name, value);
  return masking;
}

/** Wraps a sealer so that every value it seals or opens is masked from then on, as long as the server runs. */
export function maskedSealer(sealer: Sealer, masking: Pick<Masking, "add">, name: string): Sealer {
  const known = new Set<string>();
  const learn = (value: string): string => {
    if (known.has(value)) return value;
    known.add(value);
    masking.add(name, value);
    return value;
  };
  return { seal: (plain) => sealer.seal(learn(plain)), open: (sealed) => learn(sealer.open(sealed)) };
}

/** Characters masked before other work gets a turn. */
const SLICE = 128 * 1024;

/** Masks a long text in slices, with pauses for other work between them. */
export async function maskLong(masker: Masker, text: string): Promise<string> {
  if (text.length <= SLICE) return masker.text(text);
  const stream = masker.stream();
  const shown: string[] = [];
  for (let at = 0; at < text.length; at += SLICE) {
    shown.push(stream.push(text.slice(at, at + SLICE)));
    await new Promise((next) => setImmediate(next));
  }
  return shown.join("") + stream.end();
}

/** Scans a text piece by piece. Values that overlap or directly follow each other give one mask. */
class Scan {
  private held = "";
  /** How many characters at the front of `held` belong to a mask that was already shown. */
  private covered = 0;
  private masked: string | undefined;

  /** @param hidden characters at the start that are not shown. */
  constructor(
    private readonly needles: Needles,
    private hidden = 0,
  ) {}

  push(piece: string, isLast: boolean): string {
    const text = this.held === "" ? piece : this.held + piece;
    const stop = isLast ? text.length : this.needles.openFrom(text);
    const shown: string[] = [];
    let [at, end, shownTo] = [0, this.covered, Math.max(this.covered, this.hidden)];
    for (;;) {
      const next = this.needles.find(text, at, stop);
      if (!next) break;
      const { name, needle } = next.found;
      const joins = next.at < end || (next.at === end && name === this.masked);
      if (!joins) {
        shown.push(text.slice(shownTo, next.at), `[secret:${name}]`);
        this.masked = name;
        end = next.at;
      }
      const reaches = Math.max(end, next.at + needle.length);
      shown.push(lineBreaks(text, end, reaches));
      end = reaches;
      shownTo = Math.max(shownTo, end);
      at = next.at + 1;
    }
    if (shownTo < stop) {
      shown.push(text.slice(shownTo, stop));
      this.masked = undefined;
    }
    this.held = text.slice(stop);
    this.covered = Math.max(0, end - stop);
    this.hidden = Math.max(0, this.hidden - stop);
    return shown.length === 1 ? shown[0]! : shown.join("");
  }
}

function lineBreaks(text: string, from: number, to: number): string {
  let breaks = "";
  for (let at = from; at < to; at++) if (text[at] === "\n") breaks += "\n";
  return breaks;
}
