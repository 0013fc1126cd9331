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
        t.String({ description: "How the service ended or why it failed, with its last output. Secrets are masked." }),
      ),
    },
    {
      description:
        "A service that a project's environment starts for a run or session changed its state. `healthy`: it can be used; `ended`: it ended by itself and is started again; `failed`: it cannot be used.",
    },
  ),
  { stale: ["/v1/events"] },
);

export const serviceEvents = [serviceChanged] as const;
