/** Bounds of a call to a model. */
import { LIMITS } from "../../core/limits.ts";

export interface ModelLimits {
  /** Tries in all. */
  attempts: number;
  /** Longest silence between tokens, milliseconds. */
  idleMs: number;
  /** Longest wait for the first token, milliseconds; five times as long for local servers and while a model thinks. */
  firstTokenMs: number;
  /** First back-off and its ceiling, milliseconds; each wait is drawn between half and all of base × 2ⁿ. */
  backoffMs: number;
  backoffMaxMs: number;
  /** A provider that asks for a longer wait than this is not waited for. */
  retryAfterMaxMs: number;
  /** A reply longer than this is cut and ends as `length`. */
  replyCharacters: number;
}

export const MODEL_LIMITS: ModelLimits = {
  attempts: LIMITS.modelAttempts,
  idleMs: LIMITS.modelIdleTimeoutMs,
  firstTokenMs: LIMITS.modelIdleTimeoutMs,
  backoffMs: 500,
  backoffMaxMs: 30_000,
  retryAfterMaxMs: 60_000,
  replyCharacters: LIMITS.replyCharacters,
};
