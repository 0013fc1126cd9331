/** Whether traces are sent, and whether the receiver takes them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";

export const Telemetry = t.Object({
  endpoint: orNull(t.String(), { description: "Receiver, without /v1/traces; null: nothing is sent." }),
  from: orNull(oneOf("settings", "environment"), { description: "Where its address comes from." }),
  content: t.Boolean({ description: "Whether prompts, replies, and what tools are given and answer are sent, too." }),
  spans_sent: t.Integer({ description: "Since the start." }),
  spans_dropped: t.Integer({ description: "Since the start: refused by the receiver, or not taken for an hour." }),
  last_sent_at: orNull(Time),
  error: orNull(t.String(), { description: "Of the last attempt; null: it was taken." }),
});
export type Telemetry = Static<typeof Telemetry>;
