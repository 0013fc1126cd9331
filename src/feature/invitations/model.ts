/** Invitations to projects as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, Time } from "../../core/schema.ts";
import { Role } from "../members/model.ts";

export const Invitation = t.Object(
  {
    id: t.String(),
    role: Role,
    state: oneOf("open", "used", "expired", "revoked"),
    uses: t.Integer({ description: "Number of times that the invitation was used." }),
    max_uses: t.Integer(),
    created_by: t.String(),
    created_by_name: t.String(),
    created_at: Time,
    expires_at: Time,
  },
  { title: "ProjectInvitation" },
);
export type Invitation = Static<typeof Invitation>;

export const MadeInvitation = t.Composite(
  [
    Invitation,
    t.Object({
      token: t.String({ description: "Token of the invitation, shown only once. The link is `/join/TOKEN`." }),
    }),
  ],
  { title: "MadeProjectInvitation" },
);
export type MadeInvitation = Static<typeof MadeInvitation>;

export const InvitationCreate = t.Object({
  role: t.Optional(Role),
  days: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: LIMITS.invitationDays,
      description: "Number of days for which the invitation is valid; default 7.",
    }),
  ),
  max_uses: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: LIMITS.invitationUses,
      description: "Number of people who may use the invitation; default 1.",
    }),
  ),
});
export type InvitationCreate = Static<typeof InvitationCreate>;

export const TokenBody = t.Object({
  token: t.String({ minLength: 1, maxLength: LIMITS.invitationTokenCharacters }),
});

/** What the holder of a token sees before joining. */
export const Offer = t.Object(
  {
    project_id: t.String(),
    project_name: t.String(),
    role: Role,
    invited_by: t.String({ description: "Name of the person who made the invitation." }),
    expires_at: Time,
    is_member: t.Boolean({ description: "Whether you already have this role or a higher one in the project." }),
  },
  { title: "ProjectInvitationOffer" },
);
export type Offer = Static<typeof Offer>;

export const Joined = t.Object(
  {
    project_id: t.String(),
    project_name: t.String(),
    role: Role,
    joined: t.Boolean({
      description:
        "Whether you joined. `false`: you already had this role or a higher one, and the invitation was not used up.",
    }),
  },
  { title: "JoinedProject" },
);
export type Joined = Static<typeof Joined>;
