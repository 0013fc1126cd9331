/**
 * `Idempotency-Key`: the answer of a creating request is stored in the same transaction. So a repeated request, even
 * after a crash, gets the first answer, and nothing is created twice.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../core/clock.ts";
import { badRequest, conflict, Problem } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import type { Store } from "../store/store.ts";
import { idempotency } from "../store/tables/foundation.ts";
import { actorOf, type Caller } from "./caller.ts";

export interface PendingKey {
  key: string;
  fingerprint: string;
}

export type Idempotency = ReturnType<typeof createIdempotency>;

export function createIdempotency(store: Store, clock: Clock) {
  const rows = store.rows(idempotency);
  const running = new Set<string>();
  return {
    /**
     * Looks a request up.
     * @returns the stored answer, or the pending key that `remember` and `end` take.
     * @throws Problem 400 for a bad key, 409 while the first request still runs, 422 for the same key with another
     *   body.
     */
    begin(request: Request, path: string, body: Uint8Array | null, caller: Caller): Response | PendingKey | null {
      const given = request.headers.get("idempotency-key");
      if (given === null || request.method !== "POST") return null;
      if (given.length === 0 || given.length > LIMITS.idempotencyKeyCharacters || !/^[\x20-\x7e]+$/.test(given))
        throw badRequest(
          `Idempotency-Key takes 1 to ${LIMITS.idempotencyKeyCharacters} printable characters.`,
          "bad_idempotency_key",
        );
      const key = [actorOf(caller), path, given].join("\n");
      const fingerprint = createHash("sha256")
        .update(body ?? "")
        .digest("hex");
      const row = rows.find({ key });
      if (row && row.created_at > clock.now() - LIMITS.idempotencyKeepMs) {
        if (row.fingerprint !== fingerprint)
          throw new Problem(
            422,
            "idempotency_mismatch",
            "This Idempotency-Key was used with another body. Use a new key.",
          );
        const headers = new Headers({ "Content-Type": "application/json", "Idempotent-Replayed": "true" });
        if (row.location) headers.set("Location", row.location);
        return new Response(row.body, { status: row.status, headers });
      }
      if (running.has(key))
        throw conflict("The first request with this Idempotency-Key is still in progress.", "idempotency_in_flight");
      running.add(key);
      return { key, fingerprint };
    },
    /** Stores the answer. Call it inside the creating transaction. */
    remember({ key, fingerprint }: PendingKey, status: number, location: string | undefined, body: unknown): void {
      const row = {
        key,
        fingerprint,
        status,
        location: location ?? null,
        body: JSON.stringify(body),
        created_at: clock.now(),
      };
      store.write(() => rows.put(row, ["key"]));
    },
    end({ key }: PendingKey): void {
      running.delete(key);
    },
    /** Removes entries older than 24 hours. */
    prune(): void {
      store.write(() => rows.remove(["created_at < ?", clock.now() - LIMITS.idempotencyKeepMs]));
    },
  };
}
