/**
 * Passwords, hashed with argon2id by Bun off the event loop. The numbers of parallel and of waiting hashes are bounded,
 * so that a wave of log-ins slows down only log-ins. The parameters are one of OWASP's equivalent choices (m = 9 MiB,
 * t = 4, p = 1; Password Storage Cheat Sheet), the one that costs the server least.
 */
import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import PQueue from "p-queue";
import { invalidField, Problem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { UserRow } from "../users/model.ts";
import { type Attempts, attemptKey } from "./attempts.ts";

export type Passwords = ReturnType<typeof createPasswords>;

const PARAMETERS = { algorithm: "argon2id", memoryCost: 9_216, timeCost: 4 } as const;
/** Length of the salt, and of the hash. */
const HASH_BYTES = 32;
const normalize = (password: string): string => password.normalize("NFKC");

/**
 * A string in the form of a hash, whose password nobody knows. Passwords for unknown accounts are checked against it,
 * so that the check takes as long as for a real account. It is random, because computing a real hash took a tenth of
 * the start's processor time.
 */
function inventHash(): string {
  const invent = () => randomBytes(HASH_BYTES).toString("base64").replaceAll("=", "");
  return `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=1$${invent()}$${invent()}`;
}

/** @param parallel hashes at the same time. By default one core, and one thread of the runtime's pool, stay free. */
export function createPasswords(parallel = Math.max(1, availableParallelism() - 1)) {
  const queue = new PQueue({ concurrency: parallel });
  const decoy = inventHash();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (queue.size >= LIMITS.passwordHashesWaiting)
      throw new Problem(503, "busy", "Too many log-ins at once. Try again in a second.", {
        headers: { "Retry-After": "1" },
      });
    return queue.add(work);
  }
  return {
    /** @throws Problem 503 `busy`. */
    hash: async (password: string): Promise<string> => inTurn(() => Bun.password.hash(normalize(password), PARAMETERS)),
    /** Returns false for a null hash too, after the same work. @throws Problem 503 `busy`. */
    async verify(password: string, hash: string | null): Promise<boolean> {
      const same = await inTurn(() => Bun.password.verify(normalize(password), hash ?? decoy));
      return same && hash !== null;
    },
  };
}

/** @throws Problem 422 for a password that equals the e-mail address or repeats one character. */
export function assertGoodPassword(password: string, email: string): void {
  const lower = normalize(password).toLowerCase();
  if (lower === email || lower === email.split("@")[0])
    throw invalidField("/password", "A password must not be the e-mail address");
  if (new Set(lower).size < 4) throw invalidField("/password", "A password needs at least four different characters");
}

export type CheckPassword = ReturnType<typeof createPasswordCheck>;

/**
 * Checks the current password before a change. Wrong passwords count towards the account's lock.
 * @returns whether the password is the user's. @throws Problem 429 locked, 503 busy.
 */
export const createPasswordCheck =
  ({ attempts, passwords }: { attempts: Attempts; passwords: Passwords }) =>
  async (user: UserRow, password: string): Promise<boolean> => {
    const attempt = attempts.begin(attemptKey("password", user.email));
    try {
      const same = await passwords.verify(password, user.password_hash);
      if (same) attempt.succeed();
      else attempt.fail();
      return same;
    } finally {
      attempt.release();
    }
  };
