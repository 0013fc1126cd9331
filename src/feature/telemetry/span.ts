/** Writes spans as OTLP's JSON: ids are hexadecimal, times and whole numbers are decimal text. */

import { ownJson } from "../../core/own-json.ts";
import type { Place } from "./places.ts";

/** Whole numbers are bigint, so that an attribute cannot be a fraction in one span and a whole number in another. */
type Value = string | number | bigint | boolean | readonly string[];
/** Attributes that are undefined are left out. */
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
  /** Code of the error with which the work ended; undefined when there was none. */
  error: string | undefined;
}

/** A span and its place in the trace; undefined when its subject is deleted. */
export type Placed = { place: Place; draft: Omit<SpanDraft, "traceId" | "parentSpanId"> } | undefined;

/** Code of the error in a row; undefined when the work did not fail. */
export const codeOf = (error: string | null, status: string): string | undefined => {
  if (status === "cancelled") return "cancelled";
  return error === null ? (status === "failed" ? "_OTHER" : undefined) : ownJson<{ code: string }>(error).code;
};
export const toBigInt = (value: number): bigint => BigInt(Math.round(value));

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

const toNanoseconds = (ms: number): string => `${Math.max(0, Math.round(ms))}000000`;

export function writeSpan({ parentSpanId, kind, start, end, attributes, error, ...span }: SpanDraft) {
  return {
    ...span,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    flags: SAMPLED,
    kind: KIND[kind],
    startTimeUnixNano: toNanoseconds(Math.min(start, end)),
    endTimeUnixNano: toNanoseconds(end),
    attributes: writeAttributes({ ...attributes, "error.type": error }),
    status: error === undefined ? {} : { code: STATUS_ERROR },
  };
}
