import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";

export const agentMessageSent = defineEvent(
  "agent_message_sent",
  t.Object(
    { message_id: t.String(), from_agent: t.String(), to_agent: t.String() },
    { description: "An agent wrote to another agent, which reads the message when it next works for the same user." },
  ),
);

export const inboxEvents = [agentMessageSent] as const;
