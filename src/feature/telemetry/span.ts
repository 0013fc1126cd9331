/** Spans as OTLP writes them in JSON: ids in hexadecimal, times and whole numbers as decimal text. */

import { ownJson } from "../../core/own-json.ts";
import type { Place } from "./places.ts";

/** Whole numbers are bigint, so that the same attribute never is a fraction in one span and a whole number in another. */
type Value = string | number | bigint | boolean | readonly string[];
/** Those that are undefined are left out. */
export type Attributes = Readonly<Record<string, Value | undefined>>;

const KIND = { internal: 1, client: 3 } as const;
const STATUS_ERROR = 2;
const SAMPLED = 1;

interface SpanDraft {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  kind: keyof typeof KIND;
  /** Ms since the epoch. */
  start: number;
  end: number;
  attributes: Attributes;
  /** Code of the error it ended with; undefined: none. */
  error: string | undefined;
}

/** A span and where it is in its trace; undefined where what it was about is deleted. */
export type Placed = { place: Place; draft: Omit<SpanDraft, "traceId" | "parentSpanId"> } | undefined;

/** What ended it, by its row; undefined: it did not fail. */
export const codeOf = (error: string | null, status: string): string | undefined => {
  if (status === "cancelled") return "cancelled";
  return error === null ? (status === "failed" ? "_OTHER" : undefined) : ownJson<{ code: string }>(error).code;
};
export const whole = (value: number): bigint => BigInt(Math.round(value));

export type OtlpSpan = ReturnType<typeof writeSpan>;

const write = (value: Value): Record<string, unknown> => {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "bigint") return { intValue: String(value) };
  if (typeof value === "number") return { doubleValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } };
};

export const writeAttributes = (attributes: Attributes) =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: write(value) }]));

const nanoseconds = (ms: number): string => `${Math.max(0, Math.round(ms))}000000`;

export function writeSpan({ parentSpanId, kind, start, end, attributes, error, ...span }: SpanDraft) {
  return {
    ...span,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    flags: SAMPLED,
    kind: KIND[kind],
    startTimeUnixNano: nanoseconds(Math.min(start, end)),
    endTimeUnixNano: nanoseconds(end),
    attributes: writeAttributes({ ...attributes, "error.type": error }),
    status: error === undefined ? {} : { code: STATUS_ERROR },
  };
}
