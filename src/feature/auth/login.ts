/**
 * Log-in by e-mail and password, then by second factor. An unknown account, an inactive one and one without a password
 * get the same answer, after the same work, as a wrong password.
 */
import { normalEmail } from "../../core/email.ts";
import { unauthorized } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { addressKey } from "../../http/rate-limit.ts";
import { users } from "../../store/tables/accounts.ts";
import type { Core } from "../feature.ts";
import type { UserRow } from "../users/model.ts";
import { type Attempts, attemptKey } from "./attempts.ts";
import type { LoginBody, SecondFactorNeeded, SessionKind } from "./model.ts";
import type { Passwords } from "./passwords.ts";
import type { Opened, Sessions, Visitor } from "./sessions.ts";
import { newToken, tokenHash } from "./tokens.ts";
import type { SecondFactor, TwoFactor } from "./two-factor.ts";

interface Pending {
  userId: string;
  /** The hash when the log-in began: if the password changes meanwhile, the pending log-in ends. */
  passwordHash: string | null;
  passwordKey: string;
  session: SessionKind;
  tries: number;
  /** End of the pending log-in, monotonic ms. */
  until: number;
}

const MOST_PENDING = 10_000;

interface LoginDeps extends Pick<Core, "store" | "clock" | "audit"> {
  passwords: Passwords;
  attempts: Attempts;
  sessions: Sessions;
  twoFactor: TwoFactor;
}

export function createLogin({ store, clock, audit, passwords, attempts, sessions, twoFactor }: LoginDeps) {
  const people = store.rows(users);
  const pendings = new Map<string, Pending>();
  const byEmail = (email: string) => people.find({ email });
  const createProblem = () => unauthorized("E-mail or password is wrong.", "wrong_credentials");

  /**
   * Key of the lock-out count. A user who comes from a known address has a separate count, so that strangers cannot
   * lock the user out.
   */
  const keyOf = (email: string, user: UserRow | undefined, address: string | undefined): string =>
    attemptKey(
      "password",
      user && sessions.knowsAddress(user.id, address) ? `${email}\n${addressKey(address ?? "")}` : email,
    );

  function remember(pending: Pending): SecondFactorNeeded {
    for (const [hash, { until }] of pendings) {
      if (until > clock.monotonic() && pendings.size < MOST_PENDING) break;
      pendings.delete(hash);
    }
    const pending_token = newToken("pending");
    pendings.set(tokenHash(pending_token), pending);
    return { two_factor_required: true, pending_token, expires_in: LIMITS.pendingLoginMs / 1_000 };
  }

  return {
    /** @throws Problem 401 `wrong_credentials`, 429 `account_locked`, 503 `busy`. */
    async login(
      { email: given, password, session = "bearer" }: LoginBody,
      visitor: Visitor,
    ): Promise<Opened | SecondFactorNeeded> {
      const email = normalEmail(given);
      const before = byEmail(email);
      const passwordKey = keyOf(email, before, visitor.address);
      const attempt = attempts.begin(passwordKey);
      let right: boolean;
      try {
        right = await passwords.verify(password, before?.active ? before.password_hash : null);
      } catch (error) {
        attempt.release();
        throw error;
      }
      const user = byEmail(email);
      if (!right || !user?.active || user.password_hash !== before?.password_hash) {
        attempt.fail();
        audit({ action: "login.failed", actor: "anonymous", subject: user?.id, address: visitor.address });
        throw createProblem();
      }
      if (user.totp_enabled) {
        // The count of wrong passwords is kept until the second factor has been given too.
        attempt.release();
        const until = clock.monotonic() + LIMITS.pendingLoginMs;
        return remember({ userId: user.id, passwordHash: user.password_hash, passwordKey, session, tries: 0, until });
      }
      attempt.succeed();
      return sessions.open(user.id, { kind: session, ...visitor });
    },
    /** @throws Problem 401 for a wrong code, or for a pending token that was used or has expired. */
    async secondFactor(
      { pending_token, session, ...given }: SecondFactor & { pending_token: string; session?: SessionKind | undefined },
      visitor: Visitor,
    ): Promise<Opened> {
      const createExpiredProblem = () =>
        unauthorized("The pending log-in has expired. Log in again.", "pending_login_over");
      const hash = tokenHash(pending_token);
      const pending = pendings.get(hash);
      if (!pending || pending.until < clock.monotonic()) throw createExpiredProblem();
      const user = people.find({ id: pending.userId });
      if (!user?.active || user.password_hash !== pending.passwordHash || ++pending.tries > LIMITS.secondFactorTries) {
        pendings.delete(hash);
        throw createExpiredProblem();
      }
      if (user.totp_enabled && !twoFactor.consume(user, given, visitor.address))
        throw unauthorized("The code is wrong, or was used.", "wrong_code");
      pendings.delete(hash);
      attempts.clear(pending.passwordKey);
      return sessions.open(user.id, { kind: session ?? pending.session, ...visitor });
    },
  };
}
