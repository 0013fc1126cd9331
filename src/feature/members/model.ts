/** Members of projects as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { EMAIL_CHARACTERS } from "../../core/email.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { ProjectOpenTo } from "../projects/model.ts";

export const Role = t.Union(
  [t.Literal("viewer"), t.Literal("contributor"), t.Literal("maintainer"), t.Literal("owner")],
  {
    description:
      "`viewer` reads. `contributor` also starts work, comments and approves. `maintainer` also merges and changes settings. `owner` also manages members and deletes the project.",
  },
);

export const Member = t.Object(
  {
    user_id: t.String(),
    display_name: t.String(),
    email: orNull(
      t.String({ description: "E-mail address of the account; only shown to those who may change members." }),
    ),
    role: Role,
    source: oneOf("hand", "oidc"),
    added_by: orNull(t.String()),
    created_at: Time,
  },
  { title: "ProjectMember" },
);
export type Member = Static<typeof Member>;

export const MemberAdd = t.Object({
  user: t.String({
    minLength: 1,
    maxLength: EMAIL_CHARACTERS,
    description: "The account's e-mail address or id.",
  }),
  role: t.Optional(Role),
});
export type MemberAdd = Static<typeof MemberAdd>;

export const MemberUpdate = t.Object({ role: Role });

export const AccessUpdate = t.Object({ access: ProjectOpenTo });
export type AccessUpdate = Static<typeof AccessUpdate>;
export const AccessAnswer = t.Object({ access: ProjectOpenTo, role: Role }, { title: "ProjectAccess" });
