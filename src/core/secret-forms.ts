/** The forms in which a program may print a secret value: unchanged, escaped, or encoded. */
import { MAX_NEEDLE, MIN_NEEDLE } from "./needles.ts";

/** Lines of a multi-line value are masked on their own from this length on; shorter lines are ordinary words. */
const MIN_LINE = 16;
/** First and last lines of key files, which are not secret. */
const ARMOUR = /^-----(BEGIN|END) [A-Z0-9 ]+-----$/;
/** Line widths of `base64`, `openssl base64` and `xxd -p`. */
const BASE64_LINES = [76, 64];
const HEX_LINES = [60];

/** All texts to mask for a value, none longer than MAX_NEEDLE: longer forms are split into pieces. */
export function formsOf(value: string): string[] {
  const forms = new Set<string>();
  const add = (form: string) => {
    for (const piece of piecesOf(form)) forms.add(piece);
  };
  const addLines = (form: string, widths: readonly number[]) => {
    for (const width of widths)
      for (let at = 0; at < form.length; at += width)
        if (form.length > width && form.length - at >= MIN_LINE) add(form.slice(at, at + width));
  };
  add(value);
  add(value.trim());
  add(JSON.stringify(value).slice(1, -1));
  for (const line of value.split(/\r?\n/)) if (line.length >= MIN_LINE && !ARMOUR.test(line)) add(line);
  for (const form of urlForms(value)) add(form);
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  for (const form of [hex, hex.toUpperCase()]) {
    add(form);
    addLines(form, HEX_LINES);
  }
  const alone = bytes.toString("base64");
  addLines(alone, BASE64_LINES);
  // Padding only occurs at the end of encoded text, so this form includes it.
  add(alone);
  add(alone.replaceAll("+", "-").replaceAll("/", "_"));
  for (const form of base64Forms(bytes)) {
    add(form);
    add(form.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return [...forms].filter((form) => form.length >= MIN_NEEDLE);
}

/** Splits a long text into pieces that overlap by half, so that most of any part of it is found. */
function* piecesOf(text: string): Generator<string> {
  if (text.length <= MAX_NEEDLE) yield text;
  else {
    const last = text.length - MAX_NEEDLE;
    for (let at = 0; at < last; at += MAX_NEEDLE / 2) yield text.slice(at, at + MAX_NEEDLE);
    yield text.slice(last);
  }
}

function urlForms(value: string): string[] {
  if (!value.isWellFormed()) return [];
  const component = encodeURIComponent(value);
  const strict = component.replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const formField = new URLSearchParams([["", value]]).toString().slice(1);
  const upper = [component, strict, component.replaceAll("%20", "+"), formField, encodeURI(value)];
  return upper.flatMap((form) => [form, form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

/**
 * The value in base64 as it appears inside longer encoded text: the characters that depend on the value only, for each
 * of the three alignments.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const bits = (before + bytes.length) * 8;
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
  });
}
