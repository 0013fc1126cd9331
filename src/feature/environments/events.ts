import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf } from "../../core/schema.ts";

export const environmentChanged = defineEvent(
  "environment_changed",
  t.Object(
    { change: oneOf("accepted", "removed") },
    { description: "An administrator accepted, set or removed the environment of a project." },
  ),
  { stale: ["/v1/projects/{id}/environment"] },
);

export const environmentEvents = [environmentChanged] as const;
