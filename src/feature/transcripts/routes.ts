import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { TranscriptMessage } from "./model.ts";
import type { Transcripts } from "./service.ts";

const TEXT = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };

export function transcriptRoutes(transcripts: Transcripts) {
  return tagOperations("sessions", [
    defineOperation("listSessionTranscript", "GET /v1/sessions/:id/transcript", {
      access: "user",
      query: t.Object({
        ...PageQuery,
        q: t.Optional(t.String({ maxLength: 200, description: "Only messages that contain this text." })),
      }),
      answer: listOf(TranscriptMessage),
      summary: "List what a session said and did, newest message first",
      handler: ({ params, query, caller }) => transcripts.page(params.id, query.q, pageOf(query), caller),
    }),
    defineOperation("getSessionCallOutput", "GET /v1/sessions/:id/calls/:call_id/output", {
      access: "user",
      summary: "Get the stored output of a tool call as text",
      description:
        "An output over 32 kB is stored as its beginning and end. The text then names the workspace path of the whole output.",
      documented: {
        responses: {
          200: {
            description: "The stored output of the call.",
            content: { "text/plain": { schema: { type: "string" } } },
          },
        },
      },
      handler: ({ params, caller }) =>
        new Response(transcripts.outputOf(params.id, params.call_id, caller), { headers: TEXT }),
    }),
  ]);
}
