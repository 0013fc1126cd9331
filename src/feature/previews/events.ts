import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf } from "../../core/schema.ts";

export const previewChanged = defineEvent(
  "preview_changed",
  t.Object(
    {
      preview_id: t.String(),
      step_id: t.String(),
      state: oneOf("open", "kept", "closed"),
    },
    { description: "The app of a step can be opened, is kept after its step has ended, or is closed." },
  ),
  { stale: ["/v1/runs"] },
);

export const screenshotsMade = defineEvent(
  "screenshots_made",
  t.Object({ step_id: t.String(), count: t.Integer() }, { description: "Screenshots of a step's app were stored." }),
  { stale: ["/v1/runs"] },
);

export const previewEvents = [previewChanged, screenshotsMade] as const;
