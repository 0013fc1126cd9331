/** Whether traces are sent, and whether the receiver takes them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";

export const Telemetry = t.Object({
  endpoint: orNull(t.String(), {
    description: "Address of the receiver, without /v1/traces; null if no traces are sent.",
  }),
  from: orNull(oneOf("settings", "environment"), { description: "Where the address of the receiver comes from." }),
  content: t.Boolean({ description: "Whether traces include prompts, replies, and the inputs and outputs of tools." }),
  spans_sent: t.Integer({ description: "Number of spans sent since the server started." }),
  spans_dropped: t.Integer({
    description:
      "Number of spans dropped since the server started, because the receiver refused them or did not accept them for an hour.",
  }),
  last_sent_at: orNull(Time),
  error: orNull(t.String(), { description: "Error of the last attempt to send; null if it succeeded." }),
});
export type Telemetry = Static<typeof Telemetry>;
