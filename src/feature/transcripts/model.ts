/** Messages and tool calls of a session, as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";

const TranscriptCall = t.Object(
  {
    call_id: t.String(),
    tool: t.String(),
    input: t.Unknown({ description: "Input of the call; secrets are masked." }),
    status: oneOf("requested", "running", "done", "interrupted"),
    ok: orNull(t.Boolean()),
    output: orNull(t.String({ description: "Output of the call; only its beginning and end if it is long." })),
    output_characters: t.Integer({ description: "Number of characters of the whole output." }),
    started_at: orNull(Time),
    duration_ms: orNull(t.Integer()),
  },
  { title: "TranscriptCall" },
);

export const TranscriptMessage = t.Object(
  {
    seq: t.Integer({ description: "Number of the message in the session, from 0." }),
    execution_id: t.String({ description: "The execution to which the message belongs: an attempt or a turn." }),
    role: oneOf("user", "assistant", "note", "summary"),
    text: t.String(),
    thinking: t.String(),
    attachments: t.Array(t.Object({ id: t.String(), name: t.String(), media_type: t.String() })),
    calls: t.Array(TranscriptCall),
    covers_to: orNull(t.Integer({ description: "`seq` of the last message that a summary replaces." })),
    withdrawn: t.Boolean({ description: "Whether the message was withdrawn, so that the model no longer reads it." }),
    created_at: Time,
  },
  { title: "TranscriptMessage" },
);
export type TranscriptMessage = Static<typeof TranscriptMessage>;
