/**
 * Tracks whether a credential is still valid while its request is processed. A body may take minutes, and a password
 * waits for its hash. Meanwhile a session may end, a key may be revoked, or an administrator demoted. So the gate
 * checks again when the body has arrived, and the store checks in each transaction of the request, before anything
 * changes.
 */
import { unauthorized } from "../core/errors.ts";
import type { Caller } from "./caller.ts";

/** Whether the credential is valid, with the rights that it had when the request came. */
export const stillHolds = (caller: Caller): boolean => caller.stillValid?.() ?? true;

export function standingOf(caller: Caller) {
  let over = false;
  return {
    assertHolds() {
      if (over || stillHolds(caller)) return;
      throw unauthorized(
        "The credential ended, or its rights changed, while the request was under way.",
        "rights_changed",
      );
    },
    // A request that ends its own rights may still finish.
    onChange() {
      over ||= !stillHolds(caller);
    },
    /** Called when the request is answered. What it started (a job, a timer) continues in its own right. */
    end(): void {
      over = true;
    },
  };
}
