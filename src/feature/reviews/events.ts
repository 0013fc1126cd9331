/** What people do with the work of runs. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf, orNull } from "../../core/schema.ts";

export const runCommented = defineEvent(
  "run_commented",
  t.Object(
    {
      comment_id: t.String(),
      path: t.String(),
      line: orNull(t.Integer({ description: "Null: the file as a whole." })),
      change: oneOf("added", "deleted"),
    },
    { description: "A person commented on what a run changed, or took that back." },
  ),
);

export const reviewEvents = [runCommented] as const;
