/** /v1/runs/{id}/comments and /send-back. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { Run } from "../runs/model.ts";
import { RunComment, RunCommentCreate, SendBack } from "./comment-model.ts";
import type { Comments } from "./comments.ts";

const tags = ["runs"];
const RunPath = t.Object({ id: t.String() });

export function commentRoutes(base: Base, comments: Comments) {
  return new Elysia({ name: "skep/run-comments" })
    .use(base)
    .get("/v1/runs/:id/comments", ({ params, query, caller }) => comments.list(params.id, pageOf(query), caller), {
      access: "user",
      params: RunPath,
      query: t.Object(PageQuery),
      response: { 200: listOf(RunComment) },
      detail: { tags, summary: "Comments on what the run changed, oldest first" },
    })
    .post(
      "/v1/runs/:id/comments",
      async ({ params, body, caller, answer }) => {
        const write = await comments.add(params.id, body, caller);
        return answer.created(({ run_id }: RunComment) => `/v1/runs/${run_id}/comments`, write);
      },
      {
        access: "user",
        params: RunPath,
        body: RunCommentCreate,
        response: { 201: RunComment },
        detail: { tags, summary: "Comment on a line or a file that the run changed" },
      },
    )
    .delete(
      "/v1/runs/:id/comments/:comment_id",
      ({ params, caller, set }) => {
        comments.remove(params.id, params.comment_id, caller);
        set.status = 204;
      },
      {
        access: "user",
        params: t.Object({ id: t.String(), comment_id: t.String() }),
        response: { 204: t.Void() },
        detail: { tags, summary: "Delete a comment" },
      },
    )
    .post(
      "/v1/runs/:id/send-back",
      ({ params, body, caller, answer }) =>
        answer.accepted(
          (run: Run) => `/v1/runs/${run.id}`,
          () => comments.sendBack(params.id, body ?? {}, caller),
        ),
      {
        access: "user",
        params: RunPath,
        body: t.Optional(SendBack),
        response: { 202: Run },
        detail: {
          tags,
          operationId: "sendBackRun",
          summary: "Another attempt of an ended run, with its open comments as guidance",
        },
      },
    );
}
