/** Events for what an agent says while it works. Pieces of text are joined to one event every 50 ms. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../core/events.ts";
import { oneOf } from "../core/schema.ts";

export const agentOutput = defineEvent(
  "agent_output",
  t.Object(
    {
      text: t.String(),
      call_id: t.Optional(
        t.String({ description: "Id of the tool call that writes the text; absent if the agent itself does." }),
      ),
    },
    { description: "A piece of an agent's text or of a running tool's output." },
  ),
  { delivery: "lossy" },
);
export const agentThinking = defineEvent(
  "agent_thinking",
  t.Object({ text: t.String() }, { description: "A piece of an agent's reasoning." }),
  { delivery: "lossy" },
);

export const PLAN_STATES = ["pending", "in_progress", "completed"] as const;
export const agentPlan = defineEvent(
  "agent_plan",
  t.Object(
    { entries: t.Array(t.Object({ content: t.String(), status: oneOf(...PLAN_STATES) })) },
    { description: "The whole plan of an external agent, which also appears in its reasoning." },
  ),
  { delivery: "lossy" },
);
export const outputWithdrawn = defineEvent(
  "output_withdrawn",
  t.Object(
    {},
    {
      description:
        "A reply broke off because the provider failed or the server stopped, and is requested again. What the agent said and thought since its last tool call or reply no longer counts.",
    },
  ),
);

export const engineEvents = [agentOutput, agentThinking, agentPlan, outputWithdrawn] as const;
