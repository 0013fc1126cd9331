/**
 * What a credential is still worth while its request is under way. A body may take minutes and a password waits for
 * its hash, and meanwhile a session is ended, a key revoked, an administrator demoted. So the gate asks again when the
 * body is there, and the store in each transaction of the request, before anything is changed.
 */
import { unauthorized } from "../core/errors.ts";
import type { Caller } from "./caller.ts";

/** Whether the credential lives, with the rights that it had when the request came. */
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
    // A request that ends its own rights still finishes.
    changed() {
      over ||= !stillHolds(caller);
    },
    /** The request is answered: what it left running (a job, a timer) continues in its own right. */
    end(): void {
      over = true;
    },
  };
}
