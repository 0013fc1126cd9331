import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { TranscriptMessage } from "./model.ts";
import type { Transcripts } from "./service.ts";

export function transcriptRoutes(base: Base, transcripts: Transcripts) {
  return new Elysia({ name: "skep/transcripts" })
    .use(base)
    .get(
      "/v1/sessions/:id/transcript",
      ({ params, query, caller }) => transcripts.page(params.id, query.q, pageOf(query), caller),
      {
        access: "user",
        params: t.Object({ id: t.String() }),
        query: t.Object({
          ...PageQuery,
          q: t.Optional(t.String({ maxLength: 200, description: "Only messages that hold this text." })),
        }),
        response: { 200: listOf(TranscriptMessage) },
        detail: { tags: ["sessions"], summary: "What a session said and did, newest message first" },
      },
    );
}
