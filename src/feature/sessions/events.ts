/** Events of an agent's session: its start and end, its turns, its tool calls. */
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

const SESSIONS = [
  "/v1/agents",
  "/v1/status",
  "/v1/lifecycle",
  "/v1/spawn-executor",
  "/v1/chat/sessions",
  "/v1/changes",
];
const TURNS = ["/v1/chat/sessions", "/v1/changes"];
/** An agent's last sentence changes when a tool call begins: it is the text before that call. */
const LAST_SENTENCE = ["/v1/runs/at-work"];

export const sessionStarted = defineEvent(
  "session_started",
  t.Object(
    { kind: t.String({ description: "`pipeline`, `chat`, `pulse`, …" }) },
    { description: "An agent begins to work, or a chat is opened." },
  ),
  { stale: SESSIONS },
);
export const sessionEnded = defineEvent(
  "session_ended",
  t.Object(
    { status: oneOf("succeeded", "failed", "cancelled", "ended"), error },
    { description: "An agent's work has ended, or a chat is closed (`ended`)." },
  ),
  { stale: SESSIONS },
);
export const turnStarted = defineEvent(
  "turn_started",
  t.Object(turn, { description: "In a chat: the agent begins to answer." }),
  { stale: TURNS },
);
export const turnSteered = defineEvent(
  "turn_steered",
  t.Object(turn, { description: "A message was put into the running reply of that execution." }),
  { stale: TURNS },
);
export const turnEnded = defineEvent(
  "turn_ended",
  t.Object(
    { ...turn, status: oneOf("succeeded", "failed", "cancelled"), error },
    { description: "In a chat: the answer is complete, has failed or was stopped. What was said so far is kept." },
  ),
  { stale: [...TURNS, "/v1/lifecycle/timeline"] },
);
export const toolCallStart = defineEvent(
  "tool_call_start",
  t.Object(
    { ...call, input: t.Unknown({ description: "Secrets are masked." }) },
    { description: "A tool call began." },
  ),
  { stale: LAST_SENTENCE },
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
  { stale: LAST_SENTENCE },
);

export const sessionEvents = [
  sessionStarted,
  sessionEnded,
  turnStarted,
  turnSteered,
  turnEnded,
  toolCallStart,
  toolCallEnd,
] as const;
