/** Who may see and do what in a project changed. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf } from "../../core/schema.ts";

const data = (description: string) =>
  t.Object({ change: oneOf("added", "role", "removed", "access") }, { description });

export const projectMembersChanged = defineEvent(
  "project_members_changed",
  data("The access to a project, its members or their roles changed. Sent to those who see the project."),
  { stale: ["/v1/projects"] },
);
/** Sent to the account alone, without the project: the account may no longer see it. */
export const membershipChanged = defineEvent(
  "membership_changed",
  data("Your own access to a project, or your role in it, changed."),
  { stale: ["/v1/projects", "/v1/runs", "/v1/changes", "/v1/chat/sessions", "/v1/documents", "/v1/approvals"] },
);

export const memberEvents = [projectMembersChanged, membershipChanged] as const;
