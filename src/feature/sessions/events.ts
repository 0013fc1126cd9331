/** What happens in an agent's session: its start and end, its turns, its tool calls. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf } from "../../core/schema.ts";

const call = {
  call_id: t.String({ description: "Once in a session." }),
  execution_id: t.String(),
  tool: t.String(),
};
const error = t.Optional(t.Object({ code: t.String(), message: t.String() }));
const turn = {
  execution_id: t.String(),
  message_id: t.String({ description: "Of the message that the turn answers." }),
};

export const sessionStarted = defineEvent(
  "session_started",
  t.Object(
    { kind: t.String({ description: "`pipeline`, `chat`, `pulse`, …" }) },
    { description: "An agent begins to work, or a chat is opened." },
  ),
);
export const sessionEnded = defineEvent(
  "session_ended",
  t.Object(
    { status: oneOf("succeeded", "failed", "cancelled", "ended"), error },
    { description: "An agent's work has ended, or a chat is closed (`ended`)." },
  ),
);
export const turnStarted = defineEvent(
  "turn_started",
  t.Object(turn, { description: "In a chat: the agent begins to answer." }),
);
export const turnSteered = defineEvent(
  "turn_steered",
  t.Object(turn, { description: "A message was put into the running reply of that execution." }),
);
export const turnEnded = defineEvent(
  "turn_ended",
  t.Object(
    { ...turn, status: oneOf("succeeded", "failed", "cancelled"), error },
    { description: "In a chat: the answer is complete, has failed or was stopped. What was said so far is kept." },
  ),
);
export const toolCallStart = defineEvent(
  "tool_call_start",
  t.Object(
    { ...call, input: t.Unknown({ description: "Secrets are masked." }) },
    { description: "A tool call began." },
  ),
);
export const toolCallEnd = defineEvent(
  "tool_call_end",
  t.Object(
    {
      ...call,
      ok: t.Boolean(),
      duration_ms: t.Integer(),
      output: t.String({ description: "Its beginning; secrets are masked." }),
      interrupted: t.Optional(t.Boolean({ description: "It was stopped, or the server stopped while it ran." })),
    },
    { description: "A tool call has ended." },
  ),
);

export const sessionEvents = [
  ...[sessionStarted, sessionEnded, turnStarted, turnSteered, turnEnded],
  ...[toolCallStart, toolCallEnd],
] as const;
