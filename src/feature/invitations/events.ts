/** An invitation to a project was made, used or revoked. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf } from "../../core/schema.ts";

export const invitationsChanged = defineEvent(
  "project_invitations_changed",
  t.Object(
    { change: oneOf("created", "used", "revoked") },
    {
      description:
        "An invitation to a project was created, used or revoked. Everyone who can see the project receives this event.",
    },
  ),
  { stale: ["/v1/projects/{id}/invitations"] },
);

export const invitationEvents = [invitationsChanged] as const;
