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
    uses: t.Integer({ description: "How often it was used." }),
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
  [Invitation, t.Object({ token: t.String({ description: "Shown this once. The link is `/join/TOKEN`." }) })],
  { title: "MadeProjectInvitation" },
);
export type MadeInvitation = Static<typeof MadeInvitation>;

export const InvitationCreate = t.Object({
  role: t.Optional(Role),
  days: t.Optional(
    t.Integer({ minimum: 1, maximum: LIMITS.invitationDays, description: "How long it is valid; 7 unless said." }),
  ),
  max_uses: t.Optional(
    t.Integer({ minimum: 1, maximum: LIMITS.invitationUses, description: "How many may use it; 1 unless said." }),
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
    invited_by: t.String({ description: "The name of who made it." }),
    expires_at: Time,
    is_member: t.Boolean({ description: "You may do that much in the project already." }),
  },
  { title: "ProjectInvitationOffer" },
);
export type Offer = Static<typeof Offer>;

export const Joined = t.Object(
  {
    project_id: t.String(),
    project_name: t.String(),
    role: Role,
    joined: t.Boolean({ description: "False: you had that role, or a higher one; the invitation was not used up." }),
  },
  { title: "JoinedProject" },
);
export type Joined = Static<typeof Joined>;
