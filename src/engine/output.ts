/** Cuts text to a limit but keeps what matters: its beginning and its end. */
import type { Masker } from "../core/masking.ts";
import { wholeFrom, wholeTo } from "../core/whole-characters.ts";

const HEAD_PART = 0.6;
const TAIL_PART = 0.35;

/**
 * Cuts a text to about `bytes` bytes: its beginning and its end, with a line between them that counts the bytes left
 * out.
 */
export function keepEnds(text: string, bytes: number): string {
  if (text.length <= bytes && Buffer.byteLength(text) <= bytes) return text;
  // A character takes at least one byte, so characters further than `bytes` from the ends cannot be kept.
  return joinEnds(text.slice(0, bytes), text.slice(-bytes), Buffer.byteLength(text), bytes);
}

/** Like `keepEnds`, with secret values masked before the cut, so that no cut leaves a part of a secret. */
export function keepMaskedEnds(text: string, bytes: number, masker: Pick<Masker, "text" | "part">): string {
  if (text.length <= bytes) return keepEnds(masker.text(text), bytes);
  const head = masker.part(text.slice(0, bytes), { after: true });
  const tail = masker.part(text.slice(-bytes), { before: true });
  return joinEnds(head, tail, Buffer.byteLength(text), bytes);
}

function joinEnds(head: string, tail: string, wholeBytes: number, bytes: number): string {
  const first = firstBytes(head, Math.floor(bytes * HEAD_PART));
  const last = lastBytes(tail, Math.floor(bytes * TAIL_PART));
  const left = Math.max(0, wholeBytes - Buffer.byteLength(first) - Buffer.byteLength(last));
  return `${first}\n… ${left} bytes left out …\n${last}`;
}

/** As many whole characters from the start as fit in `bytes`. */
export const firstBytes = (text: string, bytes: number): string => firstBytesOf(text, bytes).toString("utf8");

/** Like `firstBytes`, as the bytes that are written to a file. */
export function firstBytesOf(text: string, bytes: number): Buffer {
  const data = Buffer.from(text.length > bytes ? text.slice(0, bytes) : text);
  if (data.length <= bytes) return data;
  const cut = data.subarray(0, bytes);
  return cut.subarray(0, wholeTo(cut));
}

function lastBytes(text: string, bytes: number): string {
  const data = Buffer.from(text.slice(-bytes));
  const cut = data.subarray(Math.max(0, data.length - bytes));
  return cut.toString("utf8", wholeFrom(cut));
}
