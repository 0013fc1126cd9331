/** Bounds of a call to a model. */
import { LIMITS } from "../../core/limits.ts";

export type ModelLimits = Record<keyof typeof MODEL_LIMITS, number>;

export const MODEL_LIMITS = {
  /** Most attempts of a call, including the first. */
  attempts: LIMITS.modelAttempts,
  /** Longest silence between tokens, milliseconds. */
  idleMs: LIMITS.modelIdleTimeoutMs,
  /**
   * Longest wait for the first token, milliseconds. It is five times as long for local servers and while a model
   * thinks.
   */
  firstTokenMs: LIMITS.modelIdleTimeoutMs,
  /** First back-off and its ceiling, milliseconds. Each wait is random, between half and all of `backoffMs` × 2ⁿ. */
  backoffMs: 500,
  backoffMaxMs: 30_000,
  /** If a provider asks for a longer wait, the call is not repeated. */
  retryAfterMaxMs: 60_000,
  /** A reply longer than this is cut and ends as `length`. */
  replyCharacters: LIMITS.replyCharacters,
};
