import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";

export const egressDenied = defineEvent(
  "egress_denied",
  t.Object(
    {
      execution_id: t.String(),
      host: t.String(),
      port: t.Integer(),
      reason: t.String({
        description: "not_allowed: no entry of the allow-list fits; address_refused: a private address; name_mismatch.",
      }),
    },
    {
      description: "A program of an agent wanted to reach a host and was refused; once for each host of an execution.",
    },
  ),
  { stale: ["/v1/runs"] },
);

export const egressEvents = [egressDenied] as const;
