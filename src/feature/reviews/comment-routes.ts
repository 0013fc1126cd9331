/** /v1/runs/{id}/comments and /send-back. */

import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { operation, operations } from "../../http/operation.ts";
import { Run } from "../runs/model.ts";
import { RunComment, RunCommentCreate, SendBack } from "./comment-model.ts";
import type { Comments } from "./comments.ts";

export function commentRoutes(comments: Comments) {
  return operations("runs", [
    operation(
      "listRunComments",
      "GET /v1/runs/:id/comments",
      {
        access: "user",
        query: t.Object(PageQuery),
        answer: listOf(RunComment),
        summary: "Comments on what the run changed, oldest first",
      },
      ({ params, query, caller }) => comments.list(params.id, pageOf(query), caller),
    ),
    operation(
      "createRunComment",
      "POST /v1/runs/:id/comments",
      {
        access: "user",
        scope: "runs",
        body: RunCommentCreate,
        answer: { 201: RunComment },
        summary: "Comment on a line or a file that the run changed",
      },
      async ({ params, body, caller, answer }) => {
        const write = await comments.add(params.id, body, caller);
        return answer.created(({ run_id }: RunComment) => `/v1/runs/${run_id}/comments`, write);
      },
    ),
    operation(
      "deleteRunComment",
      "DELETE /v1/runs/:id/comments/:comment_id",
      { access: "user", scope: "runs", answer: 204, summary: "Delete a comment" },
      ({ params, caller }) => comments.remove(params.id, params.comment_id, caller),
    ),
    operation(
      "sendBackRun",
      "POST /v1/runs/:id/send-back",
      {
        access: "user",
        scope: "runs",
        body: t.Optional(SendBack),
        answer: { 202: Run },
        summary: "Another attempt of an ended run, with its open comments as guidance",
      },
      ({ params, body, caller, answer }) =>
        answer.accepted(
          (run: Run) => `/v1/runs/${run.id}`,
          () => comments.sendBack(params.id, body ?? {}, caller),
        ),
    ),
  ]);
}
