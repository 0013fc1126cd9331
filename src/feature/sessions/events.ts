/** Events of an agent's session: its start and end, its turns, its tool calls. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf } from "../../core/schema.ts";

const call = {
  call_id: t.String({ description: "Id of the call, unique within the session." }),
  execution_id: t.String(),
  tool: t.String(),
};
const error = t.Optional(t.Object({ code: t.String(), message: t.String() }));
const turn = {
  execution_id: t.String(),
  message_id: t.String({ description: "Id of the message that the turn answers." }),
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
    { kind: t.String({ description: "Kind of the session: `pipeline`, `chat`, `pulse` or another." }) },
    { description: "An agent began to work, or a chat was opened." },
  ),
  { stale: SESSIONS },
);
export const sessionEnded = defineEvent(
  "session_ended",
  t.Object(
    { status: oneOf("succeeded", "failed", "cancelled", "ended"), error },
    { description: "An agent's work ended, or a chat was closed (`ended`)." },
  ),
  { stale: SESSIONS },
);
export const turnStarted = defineEvent(
  "turn_started",
  t.Object(turn, { description: "An agent began to answer in a chat." }),
  { stale: TURNS },
);
export const turnSteered = defineEvent(
  "turn_steered",
  t.Object(turn, { description: "A message was added to the execution's running reply." }),
  { stale: TURNS },
);
export const turnEnded = defineEvent(
  "turn_ended",
  t.Object(
    { ...turn, status: oneOf("succeeded", "failed", "cancelled"), error },
    { description: "An agent's answer in a chat is complete, failed or was stopped. What was said so far is kept." },
  ),
  { stale: [...TURNS, "/v1/lifecycle/timeline"] },
);
export const toolCallStart = defineEvent(
  "tool_call_start",
  t.Object(
    { ...call, input: t.Unknown({ description: "Input of the call; secrets are masked." }) },
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
      output: t.String({ description: "Beginning of the output; secrets are masked." }),
      interrupted: t.Optional(
        t.Boolean({ description: "Whether the call was stopped, or the server stopped while it ran." }),
      ),
    },
    { description: "A tool call ended." },
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
