/** Events about what people do with the work of runs and sessions. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { MERGE_STRATEGIES } from "../../core/merge-strategy.ts";
import { oneOf, orNull } from "../../core/schema.ts";

const comment = {
  comment_id: t.String(),
  path: orNull(t.String({ description: "Path of the file; null if the comment is about all changes." })),
  line: orNull(t.Integer({ description: "Line of the file; null if the comment is about the whole file." })),
  codehost_login: orNull(t.String({ description: "Reviewer on the code host who wrote the comment." })),
  change: oneOf("added", "deleted", "answered"),
};
export const runCommented = defineEvent(
  "run_commented",
  t.Object(comment, {
    description:
      "A comment on a run's changes was added, here or on the code host, was deleted, or was answered by an agent.",
  }),
  { stale: ["/v1/runs", "/v1/changes"] },
);
/** The comment event for sessions. */
export const changesCommented = defineEvent(
  "changes_commented",
  t.Object(comment, {
    description: "A comment on a session's changes was added, was deleted, or was answered by an agent.",
  }),
  { stale: ["/v1/changes"] },
);
export const changesMerged = defineEvent(
  "changes_merged",
  t.Object(
    { strategy: oneOf(...MERGE_STRATEGIES), into: t.String(), commit: t.String() },
    { description: "A session's changes were merged into a branch. For runs there is `run_merged`." },
  ),
  { stale: ["/v1/changes"] },
);

export const reviewEvents = [runCommented, changesCommented, changesMerged] as const;
