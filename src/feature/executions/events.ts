/** What happens to an agent's session: its begin and end, and its tool calls. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf } from "../../core/schema.ts";

const call = { call_id: t.String(), tool: t.String() };

export const sessionStarted = defineEvent(
  "session_started",
  t.Object(
    { kind: t.String({ description: "`pipeline`, `chat`, `pulse`, …" }) },
    { description: "An agent begins to work." },
  ),
);
export const sessionEnded = defineEvent(
  "session_ended",
  t.Object(
    {
      status: oneOf("succeeded", "failed", "cancelled"),
      error: t.Optional(t.Object({ code: t.String(), message: t.String() })),
    },
    { description: "An agent's work has ended." },
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
      interrupted: t.Optional(t.Boolean({ description: "The server stopped while it ran." })),
    },
    { description: "A tool call has ended." },
  ),
);

export const executionEvents = [sessionStarted, sessionEnded, toolCallStart, toolCallEnd] as const;
