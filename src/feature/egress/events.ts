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
        description:
          "Why the host was refused: `not_allowed` (no entry of the allow-list matches), `address_refused` (a private address) or `name_mismatch` (the request names another host).",
      }),
    },
    {
      description:
        "A program of an agent tried to reach a host and was refused. Sent once for each host in an execution.",
    },
  ),
  { stale: ["/v1/runs"] },
);

export const egressEvents = [egressDenied] as const;
