/**
 * Counts the model calls of a program that asks its vendor instead of the gateway, judging by what the program says. A
 * call counts when the program says something new after a prompt or after a tool's result. Tools that it calls in
 * parallel may therefore count as more than one call.
 */
import { LIMITS } from "../../core/limits.ts";
import type { CallUpdate } from "./port.ts";

export type TurnCount = ReturnType<typeof createTurnCount>;

/**
 * @param made model calls that this work has made before.
 * @param onOver called when the program makes more than `most` calls.
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
    /** The program says or thinks something. */
    say,
    onCall({ id, status }: CallUpdate): void {
      if (!known.has(id)) {
        // Bounds memory. A program that keeps making new calls is ended by the recorder's limit.
        if (known.size >= LIMITS.harnessCallsPerTurn) known.clear();
        known.add(id);
        say();
      }
      if (status === "completed" || status === "failed") isSpeaking = false;
    },
  };
}
