/** What people do with the work of runs. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf, orNull } from "../../core/schema.ts";

export const runCommented = defineEvent(
  "run_commented",
  t.Object(
    {
      comment_id: t.String(),
      path: orNull(t.String({ description: "Null: the change as a whole." })),
      line: orNull(t.Integer({ description: "Null: the file as a whole." })),
      codehost_login: orNull(t.String({ description: "Of a reviewer on the code host." })),
      change: oneOf("added", "deleted", "answered"),
    },
    {
      description:
        "Somebody commented on what a run changed, here or on the code host, or deleted their comment, or an agent answered it.",
    },
  ),
  { stale: ["/v1/runs"] },
);

export const reviewEvents = [runCommented] as const;
