import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf } from "../../core/schema.ts";

export const agentChanged = defineEvent(
  "agent_changed",
  t.Object(
    { change: oneOf("created", "configured", "tools", "deleted") },
    { description: "An agent was created, changed or deleted, or one of its tools was switched on or off." },
  ),
  { stale: ["/v1/agents"] },
);

export const agentEvents = [agentChanged] as const;
