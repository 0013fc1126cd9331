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
  has_password: t.Boolean({
    description: "Whether the account has a password. False if it only signs on through a provider.",
  }),
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
          "API keys that are still valid after a new password. All log-in sessions and their keys have ended, except the one in use.",
      }),
    ),
  }),
]);
export type ChangedUser = Static<typeof ChangedUser>;

/** A user as administrators see it. */
export const ManagedUser = t.Composite([
  User,
  t.Object({
    sessions: t.Integer({ description: "Number of log-in sessions that are valid now." }),
    api_keys: t.Integer({ description: "Number of API keys that are valid now." }),
    providers: t.Array(t.String(), { description: "Issuers of the providers through which the user signs on." }),
    stored_bytes: t.Integer({ description: "Size of attachments, documents, own memory entries and evals." }),
    workspaces_bytes: t.Integer({ description: "Size of the files of the user's runs and chats, when last measured." }),
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
    t.Boolean({ description: "With a new password: whether all API keys end, not only those of log-in sessions." }),
  ),
  email: t.Optional(
    t.String({
      ...Email,
      description: "E-mail address. Only administrators can change it; it is ignored from others.",
    }),
  ),
  role: t.Optional(
    t.Union([t.Literal("admin"), t.Literal("user")], {
      description: "Role of the user; only administrators can change it.",
    }),
  ),
  active: t.Optional(t.Boolean({ description: "Whether the account is active; only administrators can change it." })),
  two_factor_enabled: t.Optional(
    t.Literal(false, {
      description: "false switches off another user's two-factor authentication. Administrators only.",
    }),
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
