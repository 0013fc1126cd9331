/**
 * A circuit breaker for providers that keep failing. After five failures within a minute, calls are refused for half a
 * minute; then one call is let through. The first success closes the circuit.
 */
import type { Clock } from "../../core/clock.ts";
import type { Failure } from "./failure.ts";

const FAILURES = 5;
const WITHIN_MS = 60_000;
const REST_MS = 30_000;
const KEYS_KEPT = 1_000;
/** Failures of the provider itself. A wrong key or a refused call says nothing about other calls. */
const OUTAGES: ReadonlySet<Failure["code"]> = new Set(["provider_error", "provider_unreachable", "provider_timeout"]);

export function createCircuit(clock: Clock) {
  const known = new Map<string, { failedAt: number[]; restsUntil: number }>();
  return {
    /** The refusal, if the call must not be made now; undefined if it may. */
    refusal(provider: string, key: string): Failure | undefined {
      const state = known.get(key);
      const now = clock.monotonic();
      if (!state || state.failedAt.length < FAILURES) return undefined;
      if (now >= state.restsUntil) {
        // This call is let through; the others wait until it has ended.
        state.restsUntil = now + REST_MS;
        return undefined;
      }
      const message = `${provider} failed ${FAILURES} times within a minute, so it is left alone for a moment.`;
      return {
        code: "provider_unreachable",
        message,
        retryable: true,
        retryAfterMs: state.restsUntil - now,
        isWait: true,
      };
    },
    /** Records how a call ended. */
    recordEnd(key: string, failure: Failure | undefined): void {
      if (!failure?.retryable || !OUTAGES.has(failure.code)) return void known.delete(key);
      const now = clock.monotonic();
      const before = known.get(key)?.failedAt.filter((at) => now - at < WITHIN_MS) ?? [];
      const failedAt = [...before, now].slice(-FAILURES);
      if (known.size >= KEYS_KEPT) known.clear();
      known.set(key, { failedAt, restsUntil: failedAt.length < FAILURES ? 0 : now + REST_MS });
    },
  };
}
