import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf } from "../../core/schema.ts";

/** The event does not name the host, because every user may read it. */
export const hostsChanged = defineEvent(
  "hosts_changed",
  t.Object(
    { change: oneOf("drained", "enabled", "lost", "back") },
    {
      description:
        "An administrator drained or enabled one of several container engines, or one stopped answering (`lost`) or answers again (`back`).",
    },
  ),
  { stale: ["/v1/hosts"] },
);

export const hostEvents = [hostsChanged] as const;
