/** W3C Trace Context: the header by which a caller says which trace its request belongs to, and ids of traces and spans. */
import { createHash } from "node:crypto";

export interface TraceParent {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** Of the caller's span, 16 hexadecimal digits. */
  spanId: string;
  /** Whether the caller records this trace. */
  isSampled: boolean;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,200})?$/;
const NOTHING = /^0+$/;

/** What a `traceparent` says; undefined where it is missing or invalid: then a trace of one's own begins. */
export function readTraceParent(header: string | null): TraceParent | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = FORM.exec(header?.trim() ?? "") ?? [];
  if (version === undefined || version === "ff" || NOTHING.test(traceId) || NOTHING.test(spanId)) return undefined;
  // Later versions may say more at the end; the first may not.
  if (version === "00" && more !== undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const writeTraceParent = ({ traceId, spanId, isSampled }: TraceParent): string =>
  `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;

const digest = (name: string): string => createHash("sha256").update(name).digest("hex");
/** The id of the trace of that name, always the same. */
export const traceIdOf = (name: string): string => digest(`trace ${name}`).slice(0, 32);
/** The id of the span of that name, always the same: what is sent twice is one span. */
export const spanIdOf = (name: string): string => digest(`span ${name}`).slice(0, 16);
