import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf, orNull } from "../../core/schema.ts";

export const historyDeleted = defineEvent(
  "history_deleted",
  t.Object(
    {
      kind: oneOf("run", "session", "project", "user", "age"),
      id: orNull(t.String({ description: "Id of the run, session, project or user; `null` if many were deleted." })),
      runs: t.Integer(),
      sessions: t.Integer(),
    },
    {
      description:
        "History was deleted with all that belonged to it: a run, a chat, everything of a project or user, or old history.",
    },
  ),
  { stale: ["/v1/runs", "/v1/chat/sessions", "/v1/changes", "/v1/projects", "/v1/users", "/v1/admin/users"] },
);

export const historyKept = defineEvent(
  "history_kept",
  t.Object(
    { id: t.String({ description: "Id of the run or chat." }), kept: t.Boolean() },
    { description: "A run or chat is now kept regardless of the retention settings, or is subject to them again." },
  ),
  { stale: ["/v1/kept-history"] },
);

export const historyEvents = [historyDeleted, historyKept] as const;
