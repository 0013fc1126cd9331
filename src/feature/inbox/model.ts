/** Messages that agents write to each other while they work for the same user. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

export const AgentMessage = t.Object({
  id: t.String(),
  from_agent: t.String(),
  to_agent: t.String(),
  text: t.String(),
  from_session_id: t.String({ description: "Session in which the sender wrote the message." }),
  hops: t.Integer({
    description: "Number of agent messages, each answering the one before, that led to this message.",
  }),
  created_at: Time,
  read_at: orNull(Time),
  read_session_id: orNull(t.String({ description: "Session whose transcript contains the message." })),
});
export type AgentMessage = Static<typeof AgentMessage>;
