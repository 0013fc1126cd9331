/**
 * Second factor: TOTP (RFC 6238, 30 s, one step of tolerance either way) or a recovery code. Each step is accepted
 * once, and no older step after it. Recovery codes have 80 random bits, belong to one user and work once. Wrong codes
 * lock the account's second factor.
 */
import { createHash, randomBytes } from "node:crypto";
import { toTimestamp } from "../../core/clock.ts";
import { conflict, expectFound, invalidField } from "../../core/errors.ts";
import { memoize } from "../../core/lazy.ts";
import { recoveryCodes, users } from "../../store/tables/accounts.ts";
import type { Core } from "../feature.ts";
import type { UserRow } from "../users/model.ts";
import { type Attempts, attemptKey } from "./attempts.ts";
import type { CheckPassword } from "./passwords.ts";

/** Loaded when somebody uses a second factor. */
const totp = memoize((): typeof import("./totp.ts") => require("./totp.ts"));

const CODES = 10;
const STEP_SECONDS = 30;
const ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";

export interface SecondFactor {
  code?: string | undefined;
  recovery_code?: string | undefined;
}

export type TwoFactor = ReturnType<typeof createTwoFactor>;

interface TwoFactorDeps extends Pick<Core, "store" | "clock" | "audit" | "sealer"> {
  attempts: Attempts;
  checkPassword: CheckPassword;
}

export function createTwoFactor({ store, clock, audit, sealer, attempts, checkPassword }: TwoFactorDeps) {
  const [people, codes] = [store.rows(users), store.rows(recoveryCodes)];
  const userOf = (userId: string): UserRow => expectFound(people.find({ id: userId }), "user");
  /** True once per step: the update succeeds only if the step is newer than the last one used. */
  function useCode(user: UserRow, code: string): boolean {
    if (!/^\d{6}$/.test(code) || user.totp_sealed === null) return false;
    const epoch = Math.floor(clock.now() / 1_000);
    const result = totp().verifySync({
      secret: sealer.open(user.totp_sealed),
      token: code,
      epoch,
      epochTolerance: STEP_SECONDS,
    });
    if (!result.valid) return false;
    const step = Math.floor(epoch / STEP_SECONDS) + result.delta;
    const isNewer = () => people.update({ totp_last_step: step }, { id: user.id }, ["totp_last_step < ?", step]) === 1;
    return store.write(isNewer);
  }
  function useRecoveryCode(user: UserRow, code: string): boolean {
    return store.write(() => codes.remove({ user_id: user.id, hash: recoveryHash(user.id, code) }) === 1);
  }
  /** Checks the code and uses it up if it is right. Wrong codes count towards the lock. @throws Problem 429 locked. */
  function consume(user: UserRow, { code, recovery_code }: SecondFactor, address?: string): boolean {
    const attempt = attempts.begin(attemptKey("second-factor", user.id));
    const how = code !== undefined ? "code" : "recovery_code";
    let right = false;
    try {
      right =
        code !== undefined ? useCode(user, code) : recovery_code !== undefined && useRecoveryCode(user, recovery_code);
    } finally {
      if (right) attempt.succeed();
      else attempt.fail();
    }
    const action = right ? "second_factor.used" : "second_factor.failed";
    audit({ action, actor: user.id, subject: user.id, address, data: { how } });
    return right;
  }
  const createProblem = (pointer: string) => invalidField(pointer, "The code is wrong, or was used");

  return {
    consume,
    /** Makes a secret, which is not yet in force. @throws Problem 409 when the user has one in force. */
    enable(userId: string): { secret: string; otpauth_url: string; qr_svg: string } {
      const user = userOf(userId);
      if (user.totp_enabled) throw conflict("Two-factor verification is on. Disable it first.", "two_factor_on");
      const secret = totp().generateSecret();
      const otpauth_url = totp().generateURI({ issuer: "Skep", label: user.email, secret });
      store.write(() => people.update({ totp_sealed: sealer.seal(secret), totp_last_step: 0 }, { id: userId }));
      return { secret, otpauth_url, qr_svg: totp().renderSVG(otpauth_url, { border: 2 }) };
    },
    /** Puts the secret in force. @throws Problem 422 wrong code, 409 nothing to verify, 429 locked. */
    verify(userId: string, code: string, address?: string): { recovery_codes: string[] } {
      const user = userOf(userId);
      if (user.totp_enabled || user.totp_sealed === null)
        throw conflict("There is nothing to verify. Call 2fa/enable first.", "two_factor_not_begun");
      if (!consume(user, { code }, address)) throw createProblem("/code");
      const recovery_codes = Array.from({ length: CODES }, newRecoveryCode);
      store.write(() => {
        people.update({ totp_enabled: true, updated_at: toTimestamp(clock.now()) }, { id: userId });
        codes.remove({ user_id: userId });
        for (const one of recovery_codes) codes.insert({ user_id: userId, hash: recoveryHash(userId, one) });
        audit({ action: "second_factor.enabled", actor: userId, subject: userId, address });
      });
      return { recovery_codes };
    },
    /** @throws Problem 422 wrong password or code, 409 when two-factor verification is off, 429 locked. */
    async disable(
      userId: string,
      { password, ...given }: SecondFactor & { password?: string | undefined },
      address?: string,
    ): Promise<void> {
      const user = userOf(userId);
      if (!user.totp_enabled) throw conflict("Two-factor verification is off.", "two_factor_off");
      if (user.password_hash !== null && !(password && (await checkPassword(user, password))))
        throw createProblem("/password");
      if (!consume(user, given, address)) throw createProblem(given.code === undefined ? "/recovery_code" : "/code");
      store.write(() => {
        const change = { totp_enabled: false, totp_sealed: null, updated_at: toTimestamp(clock.now()) };
        people.update(change, { id: userId });
        codes.remove({ user_id: userId });
        audit({ action: "second_factor.disabled", actor: userId, subject: userId, address });
      });
    },
  };
}

/** Four groups of four characters: 16 characters of 5 random bits each. */
function newRecoveryCode(): string {
  const text = [...randomBytes(16)].map((byte) => ALPHABET[byte & 31]).join("");
  return text.replace(/(.{4})(?=.)/g, "$1-");
}

const recoveryHash = (userId: string, code: string): string =>
  createHash("sha256")
    .update(`${userId}\n${code.toLowerCase().replace(/[^a-z0-9]/g, "")}`)
    .digest("base64url");
