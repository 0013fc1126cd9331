/** Messages that agents write to each other while they work for the same user. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

export const AgentMessage = t.Object({
  id: t.String(),
  from_agent: t.String(),
  to_agent: t.String(),
  text: t.String(),
  from_session_id: t.String({ description: "Where the sender wrote it." }),
  hops: t.Integer({ description: "How many messages of agents, one answering the other, led to it." }),
  created_at: Time,
  read_at: orNull(Time),
  read_session_id: orNull(t.String({ description: "The session whose transcript it is in." })),
});
export type AgentMessage = Static<typeof AgentMessage>;
