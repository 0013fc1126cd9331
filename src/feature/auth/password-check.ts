/** Asking for the current password before a change: wrong ones count towards the account's lock. */
import type { UserRow } from "../users/model.ts";
import { type Attempts, attemptKey } from "./attempts.ts";
import type { Passwords } from "./passwords.ts";

/** True if it is the user's password. @throws Problem 429 locked, 503 busy. */
export type CheckPassword = (user: UserRow, password: string) => Promise<boolean>;

export const createPasswordCheck =
  ({ attempts, passwords }: { attempts: Attempts; passwords: Passwords }): CheckPassword =>
  async (user, password) => {
    const attempt = attempts.begin(attemptKey("password", user.email));
    try {
      const same = await passwords.verify(password, user.password_hash);
      if (same) attempt.succeeded();
      else attempt.failed();
      return same;
    } finally {
      attempt.released();
    }
  };
