import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { Time } from "../../core/schema.ts";
import { PermissionRequest } from "./model.ts";

const { tool, subject, message, state, can_remember } = PermissionRequest.properties;
const STALE = ["/v1/approvals", "/v1/permissions", "/v1/runs"];

export const permissionRequested = defineEvent(
  "permission_requested",
  t.Object(
    { request_id: t.String(), tool, subject, message, can_remember, deadline: Time },
    { description: "An agent's rules require a person to allow or refuse a call. The work waits for the answer." },
  ),
  { stale: STALE },
);
export const permissionResolved = defineEvent(
  "permission_resolved",
  t.Object(
    { request_id: t.String(), tool, state, by: t.Optional(t.String()) },
    { description: "A permission request was answered, its time ran out, or the work ended before." },
  ),
  { stale: STALE },
);

export const permissionEvents = [permissionRequested, permissionResolved] as const;
