import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";

export const taskChanged = defineEvent(
  "task_changed",
  t.Object(
    {
      task_id: t.String(),
      change: t.String({ description: "`created`, `updated`, `moved`, `claimed`, `deleted`, …" }),
      status: t.String(),
      title: t.String(),
    },
    { description: "A task of a project was made, changed or deleted." },
  ),
  { stale: ["/v1/projects/{id}/tasks"] },
);

export const taskEvents = [taskChanged] as const;
