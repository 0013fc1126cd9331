import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";

export const taskChanged = defineEvent(
  "task_changed",
  t.Object(
    {
      task_id: t.String(),
      change: t.String({
        description: "Kind of change: `created`, `updated`, `moved`, `claimed`, `deleted` or another.",
      }),
      status: t.String(),
      title: t.String(),
    },
    { description: "A task of a project was created, changed or deleted." },
  ),
  { stale: ["/v1/projects/{id}/tasks"] },
);

export const taskEvents = [taskChanged] as const;
