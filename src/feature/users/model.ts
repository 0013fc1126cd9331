/** Users as the API shows them, and the requests about them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { EMAIL_CHARACTERS, EMAIL_PATTERN } from "../../core/email.ts";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, shownOf } from "../../core/schema.ts";
import type { users } from "../../store/tables/accounts.ts";

export type UserRow = typeof users.$inferSelect;

export const Role = oneOf("admin", "user");
export const Email = t.String({ maxLength: EMAIL_CHARACTERS, pattern: EMAIL_PATTERN });
export const DisplayName = t.String({
  minLength: 1,
  maxLength: LIMITS.nameCharacters,
  pattern: "^[^\\x00-\\x1f\\x7f]+$",
});
/** A new password. */
export const NewPassword = t.String({
  minLength: LIMITS.passwordCharactersMin,
  maxLength: LIMITS.passwordCharactersMax,
  description: `At least ${LIMITS.passwordCharactersMin} characters.`,
});
/** A password to check. Any text is accepted, so that a wrong password is answered as wrong. */
export const GivenPassword = t.String({ minLength: 1, maxLength: LIMITS.passwordCharactersMax });

const Time = t.String({ format: "date-time" });
export const User = t.Object({
  id: t.String(),
  email: t.String(),
  display_name: t.String(),
  role: Role,
  active: t.Boolean(),
  two_factor_enabled: t.Boolean(),
  has_password: t.Boolean({ description: "False for accounts that only sign on through a provider." }),
  last_login_at: orNull(Time),
  created_at: Time,
});
export type User = Static<typeof User>;

/** The answer to a change. After a new password, it also lists what still opens the account. */
export const ChangedUser = t.Composite([
  User,
  t.Object({
    api_keys_left: t.Optional(
      t.Array(t.Object({ id: t.String(), name: t.String(), preview: t.String() }), {
        description:
          "After a new password: keys that are still valid. Log-ins and their keys have ended, except the one used.",
      }),
    ),
  }),
]);
export type ChangedUser = Static<typeof ChangedUser>;

/** A user as administrators see it. */
export const ManagedUser = t.Composite([
  User,
  t.Object({
    sessions: t.Integer({ description: "Log-ins that are valid now." }),
    api_keys: t.Integer({ description: "Keys that are valid now." }),
    providers: t.Array(t.String(), { description: "Issuers that it signs on through." }),
    stored_bytes: t.Integer({ description: "Attachments, documents, own memory entries and evals." }),
    workspaces_bytes: t.Integer({ description: "Files of its runs and chats, as they were last measured." }),
    updated_at: Time,
  }),
]);
export type ManagedUser = Static<typeof ManagedUser>;

export const UserCreate = t.Object({
  email: Email,
  display_name: t.Optional(DisplayName),
  password: t.Optional(NewPassword),
  role: t.Optional(Role),
});
export type UserCreate = Static<typeof UserCreate>;

export const UserUpdate = t.Object({
  display_name: t.Optional(DisplayName),
  password: t.Optional(NewPassword),
  current_password: t.Optional(GivenPassword),
  end_api_keys: t.Optional(
    t.Boolean({ description: "With a new password: end all API keys, not only those of log-ins." }),
  ),
  email: t.Optional(t.String({ ...Email, description: "Administrators only; from others it has no effect." })),
  role: t.Optional(t.Union([t.Literal("admin"), t.Literal("user")], { description: "Administrators only." })),
  active: t.Optional(t.Boolean({ description: "Administrators only." })),
  two_factor_enabled: t.Optional(
    t.Literal(false, { description: "Administrators only: switches it off for another." }),
  ),
});
export type UserUpdate = Static<typeof UserUpdate>;

export const presentUser = (row: UserRow): User => ({
  ...shownOf(User, row),
  two_factor_enabled: row.totp_enabled,
  has_password: row.password_hash !== null,
});

/** A row for a new user. @param email in normal form. */
export const newUserRow = ({
  id,
  email,
  display_name,
  role,
  password_hash,
  at,
}: Pick<UserRow, "id" | "email" | "role" | "password_hash"> & {
  display_name?: string | undefined;
  at: string;
}): UserRow => ({
  id,
  email,
  display_name: display_name ?? (email.split("@")[0] || email),
  role,
  active: true,
  password_hash,
  totp_sealed: null,
  totp_enabled: false,
  totp_last_step: 0,
  last_login_at: null,
  created_at: at,
  updated_at: at,
});
