/** Events for what an agent says while it works. Pieces of text are joined to one event every 50 ms. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../core/events.ts";
import { oneOf } from "../core/schema.ts";

export const agentOutput = defineEvent(
  "agent_output",
  t.Object(
    {
      text: t.String(),
      call_id: t.Optional(t.String({ description: "Of the tool call that writes it; absent: the agent itself." })),
    },
    { description: "An agent's text, or a running tool's output, piece by piece." },
  ),
  { delivery: "lossy" },
);
export const agentThinking = defineEvent(
  "agent_thinking",
  t.Object({ text: t.String() }, { description: "An agent's reasoning, piece by piece." }),
  { delivery: "lossy" },
);

export const PLAN_STATES = ["pending", "in_progress", "completed"] as const;
export const agentPlan = defineEvent(
  "agent_plan",
  t.Object(
    { entries: t.Array(t.Object({ content: t.String(), status: oneOf(...PLAN_STATES) })) },
    { description: "What an external agent means to do, whole; it says it as reasoning, too." },
  ),
  { delivery: "lossy" },
);
export const outputWithdrawn = defineEvent(
  "output_withdrawn",
  t.Object(
    {},
    {
      description:
        "A reply broke off, since the provider failed or the server stopped, and is asked for again: what the agent said and thought since its last tool call or reply no longer counts.",
    },
  ),
);

export const engineEvents = [agentOutput, agentThinking, agentPlan, outputWithdrawn] as const;
