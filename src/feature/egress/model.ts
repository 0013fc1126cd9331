/** Connections of agents' programs as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";

export const Verdict = oneOf("allowed", "denied", "failed");

export const EgressConnection = t.Object(
  {
    id: t.String(),
    run_id: orNull(t.String()),
    session_id: t.String(),
    execution_id: t.String(),
    agent_id: t.String(),
    host: t.String(),
    port: t.Integer(),
    verdict: Verdict,
    reason: orNull(
      t.String({
        description:
          "Why the connection was denied or failed: `not_allowed`, `address_refused`, `name_mismatch`, `not_encrypted`, `full`, `host_unknown`, `unreachable`, `too_much` or `too_long`.",
      }),
    ),
    sent_bytes: t.Integer({ description: "Bytes sent from the program to the host." }),
    received_bytes: t.Integer(),
    started_at: Time,
    duration_ms: t.Integer(),
  },
  { title: "EgressConnection" },
);
export type EgressConnection = Static<typeof EgressConnection>;

export const AllowedHost = t.Object({
  host: t.String({
    minLength: 1,
    maxLength: 253,
    pattern: "^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$|^[0-9A-Fa-f:.]{2,45}$|^\\[[0-9A-Fa-f:.]{2,45}\\]$",
    description: "Host name or address, as in the denied connection.",
  }),
  port: t.Integer({ minimum: 1, maximum: 65_535 }),
});
export type AllowedHost = Static<typeof AllowedHost>;
