/** Events of evals. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf } from "../../core/schema.ts";

export const evalChanged = defineEvent(
  "eval_changed",
  t.Object(
    {
      eval_id: t.String(),
      name: t.String(),
      change: oneOf("created", "progress", "done", "cancelled", "deleted"),
    },
    { description: "An eval was created, cancelled or deleted, made progress, or ended." },
  ),
  { stale: ["/v1/evals"] },
);

export const evalEvents = [evalChanged] as const;
