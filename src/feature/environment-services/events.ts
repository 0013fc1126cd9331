import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf, orNull } from "../../core/schema.ts";

export const serviceChanged = defineEvent(
  "service_changed",
  t.Object(
    {
      service: t.String(),
      state: oneOf("starting", "healthy", "ended", "failed"),
      detail: orNull(
        t.String({ description: "How it ended or why it failed, and what it wrote last; secrets are masked." }),
      ),
    },
    {
      description:
        "A service of a project's environment is started for a run or session, can be used, ended by itself and is started again (`ended`), or cannot be used (`failed`).",
    },
  ),
  { stale: ["/v1/events"] },
);

export const serviceEvents = [serviceChanged] as const;
