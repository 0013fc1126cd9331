/** Messages and tool calls of a session, as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";

const TranscriptCall = t.Object(
  {
    call_id: t.String(),
    tool: t.String(),
    input: t.Unknown({ description: "Secrets are masked." }),
    status: oneOf("requested", "running", "done", "interrupted"),
    ok: orNull(t.Boolean()),
    output: orNull(t.String({ description: "Its beginning and end when it is long." })),
    output_characters: t.Integer({ description: "Of the whole output." }),
    started_at: orNull(Time),
    duration_ms: orNull(t.Integer()),
  },
  { title: "TranscriptCall" },
);

export const TranscriptMessage = t.Object(
  {
    seq: t.Integer({ description: "From 0." }),
    execution_id: t.String({ description: "The execution that it belongs to: an attempt, a turn." }),
    role: oneOf("user", "assistant", "note", "summary"),
    text: t.String(),
    thinking: t.String(),
    attachments: t.Array(t.Object({ id: t.String(), name: t.String(), media_type: t.String() })),
    calls: t.Array(TranscriptCall),
    covers_to: orNull(t.Integer({ description: "A summary stands for every message up to this one." })),
    withdrawn: t.Boolean({ description: "Taken back: the model does not read it any more." }),
    created_at: Time,
  },
  { title: "TranscriptMessage" },
);
export type TranscriptMessage = Static<typeof TranscriptMessage>;
