/** The event for news that a person may want to read in the feed and that no program waits for. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { orNull } from "../../core/schema.ts";

export const activity = defineEvent(
  "activity",
  t.Object(
    {
      title: t.String({ description: "One line of text for people." }),
      skill: t.Optional(t.String()),
      skills: t.Optional(t.Array(t.String())),
      tool: t.Optional(t.String()),
      enabled: t.Optional(orNull(t.Boolean())),
      pipeline_id: t.Optional(t.String()),
      fields: t.Optional(t.Array(t.String({ description: "Name of a changed field." }))),
    },
    { description: "Something that a person may want to know, such as a change of an agent, skill or pipeline." },
  ),
  // A line may say what a run or a chat waits for.
  { stale: ["/v1/lifecycle/timeline", "/v1/runs", "/v1/chat/sessions"] },
);

export const eventEvents = [activity] as const;
