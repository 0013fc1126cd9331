/**
 * Counts the model calls of a program that asks its vendor and not the gateway, by what it says: a call has begun when the
 * program says something new after it was prompted, or after one of its tools has given a result. Tools that it calls in
 * parallel may so count as more than one call.
 */
import { LIMITS } from "../../core/limits.ts";
import type { CallUpdate } from "./port.ts";

export type TurnCount = ReturnType<typeof createTurnCount>;

/**
 * @param made model calls of this work before.
 * @param onOver it makes more than `most` calls.
 */
export function createTurnCount({ made, most }: { made: number; most: number }, onOver: () => void) {
  let count = made;
  let isSpeaking = false;
  const known = new Set<string>();
  const say = (): void => {
    if (isSpeaking) return;
    isSpeaking = true;
    count++;
    if (count > most) onOver();
  };
  return {
    /** The program is given a prompt. @returns whether it may make another model call. */
    prompt(): boolean {
      isSpeaking = false;
      return count < most;
    },
    /** It says or thinks something. */
    say,
    onCall({ id, status }: CallUpdate): void {
      if (!known.has(id)) {
        // A program that names ever new calls is ended elsewhere.
        if (known.size >= LIMITS.harnessCallsPerTurn) known.clear();
        known.add(id);
        say();
      }
      if (status === "completed" || status === "failed") isSpeaking = false;
    },
  };
}
