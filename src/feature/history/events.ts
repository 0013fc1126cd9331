import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf, orNull } from "../../core/schema.ts";

export const historyDeleted = defineEvent(
  "history_deleted",
  t.Object(
    {
      kind: oneOf("run", "session", "project", "user", "age"),
      id: orNull(t.String({ description: "Of the run, session, project or user. Null: of many." })),
      runs: t.Integer(),
      sessions: t.Integer(),
    },
    { description: "A run, a chat, or a project's or user's everything was deleted with all that belonged to it." },
  ),
  { stale: ["/v1/runs", "/v1/chat/sessions", "/v1/changes", "/v1/projects", "/v1/users", "/v1/admin/users"] },
);

export const historyKept = defineEvent(
  "history_kept",
  t.Object(
    { id: t.String({ description: "Of the run or chat." }), kept: t.Boolean() },
    { description: "A run or chat is kept, whatever the settings for retention say, or goes by them again." },
  ),
  { stale: ["/v1/kept-history"] },
);

export const historyEvents = [historyDeleted, historyKept] as const;
