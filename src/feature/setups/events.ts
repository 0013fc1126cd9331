import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf } from "../../core/schema.ts";

export const setupChanged = defineEvent(
  "setup_changed",
  t.Object(
    { state: oneOf("started", "ready", "failed", "removed") },
    { description: "The set-up of a project's code started or ended, or its result was removed." },
  ),
  { stale: ["/v1/projects/{id}/setup"] },
);

export const setupEvents = [setupChanged] as const;
