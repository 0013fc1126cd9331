/** Parses times from query parameters. */
import { invalidField } from "./errors.ts";

/**
 * Milliseconds since the epoch of an RFC 3339 time or a day (YYYY-MM-DD). @throws Problem 422 that names the parameter.
 */
export function timeOf(text: string, parameter: string): number {
  const shape = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2}))?$/i;
  // A plus sign that was not percent-encoded arrives as a space.
  const plain = text.replace(/ (\d{2}:?\d{2})$/, "+$1");
  const ms = shape.test(plain) ? Date.parse(plain) : Number.NaN;
  if (Number.isNaN(ms)) throw invalidField(parameter, "Must be a time as RFC 3339 writes it, or a day");
  return ms;
}
