/**
 * Locks an account after too many wrong tries. Unknown accounts are locked too, so that a lock does not reveal which
 * accounts exist. A try is counted in memory before it is checked, and a wrong try is written in a transaction of its
 * own. Parallel tries, a busy database, a rollback or a restart therefore give no tries back.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { Problem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Logger } from "../../core/log.ts";
import type { Store } from "../../store/store.ts";
import { loginFailures } from "../../store/tables/accounts.ts";

interface Attempt {
  fail(): void;
  succeed(): void;
  /** The try counts as neither: the check was not made, or a second factor follows. */
  release(): void;
}

export type Attempts = ReturnType<typeof createAttempts>;

interface Count {
  failures: number;
  lastAt: number;
  lockedUntil: number;
  open: number;
}

/** The key of a count. It is a digest, so that text typed into the wrong field is not stored. */
export const attemptKey = (kind: "password" | "second-factor" | "invitation", account: string): string =>
  createHash("sha256").update(`${kind}\n${account}`).digest("base64url");

const MOST = 20_000;

export function createAttempts({ store, clock, log }: { store: Store; clock: Clock; log: Logger }) {
  const counts = new Map<string, Count>();
  const rows = store.rows(loginFailures);

  function countOf(key: string): Count {
    let count = counts.get(key);
    if (!count) {
      const row = rows.find({ key });
      count = { failures: row?.failures ?? 0, lastAt: row?.last_at ?? 0, lockedUntil: row?.locked_until ?? 0, open: 0 };
      if (counts.size >= MOST) forgetIdle();
      counts.set(key, count);
    }
    const now = clock.now();
    if (now >= count.lockedUntil && now - count.lastAt > LIMITS.loginFailureWindowMs) count.failures = 0;
    return count;
  }
  function forgetIdle(): void {
    const old = clock.now() - LIMITS.loginFailureWindowMs;
    for (const [key, count] of counts)
      if (count.open === 0 && (count.failures === 0 || count.lastAt < old) && count.lockedUntil <= clock.now())
        counts.delete(key);
  }
  function keep(key: string, { failures, lastAt, lockedUntil }: Count): void {
    const row = { key, failures, last_at: lastAt, locked_until: lockedUntil };
    try {
      store.write(() => rows.put(row, ["key"]));
    } catch (err) {
      log.error({ err }, "a wrong log-in could not be written; it counts in memory");
    }
  }
  function drop(key: string): void {
    store.write(() => rows.remove({ key }));
  }

  return {
    /** Opens a try. @throws Problem 429 `account_locked` after LIMITS.loginFailures wrong tries. */
    begin(key: string): Attempt {
      const count = countOf(key);
      const now = clock.now();
      const wait =
        count.lockedUntil > now
          ? count.lockedUntil - now
          : count.failures + count.open >= LIMITS.loginFailures
            ? 1_000
            : 0;
      if (wait > 0) {
        const seconds = Math.ceil(wait / 1_000);
        throw new Problem(429, "account_locked", `Too many wrong tries. Try again in ${seconds} s.`, {
          headers: { "Retry-After": String(seconds) },
        });
      }
      count.open++;
      let over = false;
      const end = (then: () => void) => {
        if (over) return;
        over = true;
        count.open--;
        then();
      };
      return {
        fail: () =>
          end(() => {
            count.failures++;
            count.lastAt = clock.now();
            if (count.failures >= LIMITS.loginFailures) {
              count.failures = 0;
              count.lockedUntil = count.lastAt + LIMITS.loginLockMs;
            }
            keep(key, count);
          }),
        succeed: () =>
          end(() => {
            const kept = count.lastAt > 0;
            counts.delete(key);
            if (kept) drop(key);
          }),
        release: () => end(() => {}),
      };
    },
    /** Ends a lock, after an authorized person has set the account's password. */
    clear(key: string): void {
      counts.delete(key);
      drop(key);
    },
    prune(): void {
      forgetIdle();
      const old = clock.now() - LIMITS.loginFailureWindowMs - LIMITS.loginLockMs;
      store.write(() => rows.remove(["last_at < ?", old]));
    },
  };
}
