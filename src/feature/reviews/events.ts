/** Events about what people do with the work of runs and sessions. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { MERGE_STRATEGIES } from "../../core/merge-strategy.ts";
import { oneOf, orNull } from "../../core/schema.ts";

const comment = {
  comment_id: t.String(),
  path: orNull(t.String({ description: "Null: the change as a whole." })),
  line: orNull(t.Integer({ description: "Null: the file as a whole." })),
  codehost_login: orNull(t.String({ description: "Of a reviewer on the code host." })),
  change: oneOf("added", "deleted", "answered"),
};
export const runCommented = defineEvent(
  "run_commented",
  t.Object(comment, {
    description:
      "Somebody commented on what a run changed, here or on the code host, or deleted their comment, or an agent answered it.",
  }),
  { stale: ["/v1/runs", "/v1/changes"] },
);
/** The comment event for sessions. */
export const changesCommented = defineEvent(
  "changes_commented",
  t.Object(comment, {
    description: "Somebody commented on what a session changed, or deleted their comment, or an agent answered it.",
  }),
  { stale: ["/v1/changes"] },
);
export const changesMerged = defineEvent(
  "changes_merged",
  t.Object(
    { strategy: oneOf(...MERGE_STRATEGIES), into: t.String(), commit: t.String() },
    { description: "What a session changed was merged into a branch. Runs have `run_merged`." },
  ),
  { stale: ["/v1/changes"] },
);

export const reviewEvents = [runCommented, changesCommented, changesMerged] as const;
