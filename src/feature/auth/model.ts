/** Bodies of /v1/auth. */

import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { keysOf } from "../../core/typed-keys.ts";
import { SCOPES } from "../../http/scopes.ts";
import { DisplayName, Email, GivenPassword, NewPassword, User } from "../users/model.ts";

const Time = t.String({ format: "date-time" });
const Token = t.String({ minLength: 1, maxLength: 256 });
const Code = t.String({ pattern: "^[0-9]{6}$", description: "Six-digit code from the authenticator app." });

/** Whether the client wants tokens, or a cookie that scripts cannot read. */
export const SessionKind = t.Union([t.Literal("bearer"), t.Literal("cookie")], {
  description: "`bearer` (default) returns tokens; `cookie` sets a session cookie and returns no tokens.",
});
export type SessionKind = Static<typeof SessionKind>;

export const LoginBody = t.Object({
  email: t.String({ minLength: 1, maxLength: 320 }),
  password: GivenPassword,
  session: t.Optional(SessionKind),
});
export type LoginBody = Static<typeof LoginBody>;
export const SecondFactorBody = t.Object({
  pending_token: Token,
  code: t.Optional(t.String({ maxLength: 32 })),
  recovery_code: t.Optional(t.String({ maxLength: 64 })),
  session: t.Optional(SessionKind),
});
export const SetupBody = t.Object({
  email: Email,
  password: NewPassword,
  display_name: t.Optional(DisplayName),
  setup_token: t.Optional(t.String({ maxLength: 256 })),
  session: t.Optional(SessionKind),
});
export type SetupBody = Static<typeof SetupBody>;
export const RefreshBody = t.Object({ refresh_token: Token });
export const LogoutBody = t.Optional(
  t.Object({
    refresh_token: t.Optional(Token),
    end_provider_session: t.Optional(
      t.Boolean({
        description:
          "Whether to also return the address that ends the session at the identity provider, if there is one.",
      }),
    ),
  }),
);

/** The answer after a session was made: with its tokens, or without them for a cookie session. */
export const SignedIn = t.Object({
  access_token: t.Optional(t.String()),
  refresh_token: t.Optional(t.String()),
  token_type: t.Union([t.Literal("Bearer"), t.Literal("Cookie")]),
  expires_in: t.Integer({ description: "Seconds until the access token, or an unused session cookie, expires." }),
  user: User,
});
export type SignedIn = Static<typeof SignedIn>;

export const SecondFactorNeeded = t.Object({
  two_factor_required: t.Literal(true),
  pending_token: t.String(),
  expires_in: t.Integer(),
});
export type SecondFactorNeeded = Static<typeof SecondFactorNeeded>;

export const Me = t.Composite([
  User,
  t.Object({
    session: t.Object({
      kind: t.Union([t.Literal("local"), t.Literal("engine"), t.Literal("user")]),
      id: t.Union([t.String(), t.Null()]),
      scopes: t.Union([t.Array(t.String()), t.Null()]),
    }),
  }),
]);
export type Me = Static<typeof Me>;

export const TwoFactorSetup = t.Object({ secret: t.String(), otpauth_url: t.String(), qr_svg: t.String() });
export const TwoFactorVerify = t.Object({ code: Code });
export const TwoFactorDisable = t.Object({
  password: t.Optional(GivenPassword),
  code: t.Optional(t.String({ maxLength: 32 })),
  recovery_code: t.Optional(t.String({ maxLength: 64 })),
});
export const RecoveryCodes = t.Object({ recovery_codes: t.Array(t.String()) });

export const AuthSession = t.Object({
  id: t.String(),
  kind: SessionKind,
  current: t.Boolean(),
  address: t.Union([t.String(), t.Null()]),
  user_agent: t.Union([t.String(), t.Null()]),
  provider: t.Union([t.String(), t.Null()]),
  created_at: Time,
  last_used_at: Time,
  expires_at: Time,
});
export type AuthSession = Static<typeof AuthSession>;

const scopeWords = keysOf(SCOPES);
const ScopeWord = t.Union(
  scopeWords.map((word) => t.Literal(word)),
  {
    description: Object.entries(SCOPES)
      .map(([word, about]) => `\`${word}\`: ${about}`)
      .join(" "),
  },
);
const KeyKind = t.Union([t.Literal("key"), t.Literal("login")], {
  description:
    "`key` (default) is valid until it expires; `login` belongs to a log-in and ends when the password changes.",
});
export const ApiKeyCreate = t.Object({
  name: t.String({ minLength: 1, maxLength: LIMITS.nameCharacters }),
  kind: t.Optional(KeyKind),
  expires_at: t.Optional(t.Union([Time, t.Null()])),
  scopes: t.Optional(t.Union([t.Array(ScopeWord, { minItems: 1, maxItems: scopeWords.length }), t.Null()])),
});
export type ApiKeyCreate = Static<typeof ApiKeyCreate>;
export const ApiKey = t.Object({
  id: t.String(),
  name: t.String(),
  kind: KeyKind,
  preview: t.String(),
  scopes: t.Union([t.Array(t.String()), t.Null()], {
    description: "Scopes of the key; `null` if the key may do everything that its user may do.",
  }),
  expires_at: t.Union([Time, t.Null()]),
  expired: t.Boolean(),
  last_used_at: t.Union([Time, t.Null()]),
  created_at: Time,
  key: t.Optional(t.String({ description: "The key itself, returned only when it is created." })),
});
export type ApiKey = Static<typeof ApiKey>;
