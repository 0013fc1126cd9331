/**
 * Access tokens: JWTs valid for 15 minutes, HS256 only, signed with the instance's own random key. A token only names
 * its session. Whether the session is alive, and what its user may do, is read from the database at each request.
 */

import { createHash } from "node:crypto";
import type { Clock } from "../core/clock.ts";
import { newId } from "../core/ids.ts";
import { readMembers } from "../core/json-reader.ts";
import { memoize } from "../core/lazy.ts";
import { LIMITS } from "../core/limits.ts";

const ISSUER = "skep";
const AUDIENCE = "skep-api";
const TYPE = "at+jwt";
const REQUIRED = ["sub", "sid", "role", "iat", "nbf", "exp", "jti"];

export type AccessTokens = ReturnType<typeof createAccessTokens>;

/** @param key 32 random bytes that are used only here. */
export function createAccessTokens(key: Uint8Array, clock: Clock) {
  if (key.byteLength < 32) throw new Error("a signing key has 32 bytes at least");
  const kid = createHash("sha256").update("skep/kid").update(key).digest("base64url").slice(0, 12);
  const signer = memoize(async () => {
    const { jwt } = await import("@elysiajs/jwt");
    const claims = { iss: ISSUER, aud: AUDIENCE };
    return jwt({ name: "tokens", secret: key, alg: "HS256", typ: TYPE, kid, ...claims }).decorator.tokens;
  });
  return {
    /** Makes a token that is valid for LIMITS.accessTokenMs. */
    async sign({ userId, sessionId, role }: { userId: string; sessionId: string; role: string }): Promise<string> {
      const now = Math.floor(clock.now() / 1_000);
      const exp = now + LIMITS.accessTokenMs / 1_000;
      return (await signer()).sign({ sub: userId, sid: sessionId, role, jti: newId("login"), nbf: now, exp });
    },
    /** The session that the token names; undefined unless the token is ours and currently valid. */
    async verify(token: string): Promise<{ userId: string; sessionId: string } | undefined> {
      if (kidOf(token) !== kid) return undefined;
      const claims = await (await signer()).verify(token, {
        algorithms: ["HS256"],
        issuer: ISSUER,
        audience: AUDIENCE,
        typ: TYPE,
        requiredClaims: REQUIRED,
        currentDate: new Date(clock.now()),
      });
      if (!claims) return undefined;
      const { sub, sid } = claims;
      return typeof sub === "string" && typeof sid === "string" ? { userId: sub, sessionId: sid } : undefined;
    },
  };
}

/** The key id that the header claims; the signature check proves whether it is true. */
function kidOf(token: string): unknown {
  const [header = ""] = token.split(".", 1);
  return readMembers(Buffer.from(header, "base64url").toString("utf8"))["kid"];
}
