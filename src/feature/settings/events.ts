import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";

export const settingsChanged = defineEvent(
  "settings_changed",
  t.Object(
    {
      name: t.String({ description: "Name of the changed settings: `instance`, or another group such as `tts`." }),
      changed: t.Array(t.String({ description: "Path of a changed setting, such as `limits.max_turns`." })),
    },
    { description: "Settings were changed. Only administrators receive this event." },
  ),
  { stale: ["/v1/settings", "/v1/usage"] },
);

export const settingsEvents = [settingsChanged] as const;
