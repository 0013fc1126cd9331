import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";

export const settingsChanged = defineEvent(
  "settings_changed",
  t.Object(
    {
      name: t.String({ description: "`instance`, or of which other settings, e.g. `tts`." }),
      changed: t.Array(t.String({ description: "What was changed, e.g. `limits.max_turns`." })),
    },
    { description: "Settings were changed. For administrators." },
  ),
  { stale: ["/v1/settings", "/v1/usage"] },
);

export const settingsEvents = [settingsChanged] as const;
