/** W3C Trace Context: the header that says which trace a request belongs to, and ids of traces and spans. */
import { createHash } from "node:crypto";

export interface TraceParent {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** Id of the caller's span, 16 hexadecimal digits. */
  spanId: string;
  /** Whether the caller records this trace. */
  isSampled: boolean;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,200})?$/;
const NOTHING = /^0+$/;

/** Parses a `traceparent` header; undefined when it is missing or invalid, and a new trace begins. */
export function readTraceParent(header: string | null): TraceParent | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = FORM.exec(header?.trim() ?? "") ?? [];
  if (version === undefined || version === "ff" || NOTHING.test(traceId) || NOTHING.test(spanId)) return undefined;
  // Later versions may add members at the end; version 00 may not.
  if (version === "00" && more !== undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const writeTraceParent = ({ traceId, spanId, isSampled }: TraceParent): string =>
  `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;

const digest = (name: string): string => createHash("sha256").update(name).digest("hex");
/** The trace id for a name, always the same for the same name. */
export const traceIdOf = (name: string): string => digest(`trace ${name}`).slice(0, 32);
/** The span id for a name, always the same for the same name: a span that is sent twice counts once. */
export const spanIdOf = (name: string): string => digest(`span ${name}`).slice(0, 16);
