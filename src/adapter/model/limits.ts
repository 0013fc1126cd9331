/** Bounds of a call to a model. */
import { LIMITS } from "../../core/limits.ts";

export type ModelLimits = Record<keyof typeof MODEL_LIMITS, number>;

export const MODEL_LIMITS = {
  /** Tries in all. */
  attempts: LIMITS.modelAttempts,
  /** Longest silence between tokens, milliseconds. */
  idleMs: LIMITS.modelIdleTimeoutMs,
  /** Longest wait for the first token, milliseconds; five times as long for local servers and while a model thinks. */
  firstTokenMs: LIMITS.modelIdleTimeoutMs,
  /** First back-off and its ceiling, milliseconds; each wait is drawn between half and all of base × 2ⁿ. */
  backoffMs: 500,
  backoffMaxMs: 30_000,
  /** A provider that asks for a longer wait than this is not waited for. */
  retryAfterMaxMs: 60_000,
  /** A reply longer than this is cut and ends as `length`. */
  replyCharacters: LIMITS.replyCharacters,
};
