/** Comments on the changes of runs and sessions, and sending the work back with them. */

import { Type as t } from "@sinclair/typebox";
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Run } from "../runs/model.ts";
import type { RunViews } from "../runs/views.ts";
import { Comment, CommentCreate, RunComment, SendBack, SendBackMessage } from "./comment-model.ts";
import type { Comments } from "./comments.ts";
import { Changes } from "./merge-model.ts";
import { expectRunId } from "./merge-routes.ts";
import type { ReviewedWork } from "./reviewed.ts";

interface CommentRoutesDeps {
  comments: Comments;
  reviewed: Pick<ReviewedWork, "find" | "loadUnchecked" | "present">;
  views: Pick<RunViews, "rowFor" | "present">;
}

const ofRun = (comment: Comment): RunComment => ({ run_id: comment.work_id, ...comment });

export const commentRoutes = (deps: CommentRoutesDeps) => [...commentsOfChanges(deps), ...commentsOfRuns(deps)];

function commentsOfChanges({ comments, reviewed }: CommentRoutesDeps) {
  return tagOperations("changes", [
    defineOperation("listChangesComments", "GET /v1/changes/:id/comments", {
      access: "user",
      ...pagesOf(Comment),
      summary: "List the comments on changes, oldest first",
      handler: ({ params, query, caller }) => comments.list(params.id, pageOf(query), caller),
    }),
    defineOperation("createChangesComment", "POST /v1/changes/:id/comments", {
      access: "user",
      scope: "runs",
      body: CommentCreate,
      answer: { 201: Comment },
      summary: "Comment on a line or a file of changes",
      handler: async ({ params, body, caller, answer }) => {
        const write = await comments.add(params.id, body, caller);
        return answer.created("/v1/changes/:work_id/comments", write);
      },
    }),
    defineOperation("deleteChangesComment", "DELETE /v1/changes/:id/comments/:comment_id", {
      access: "user",
      project: "viewer",
      scope: "runs",
      answer: 204,
      summary: "Delete a comment on changes",
      handler: ({ params, caller }) => comments.remove(params.id, params.comment_id, caller),
    }),
    defineOperation("sendBackChanges", "POST /v1/changes/:id/send-back", {
      access: "user",
      scope: "runs",
      body: t.Optional(SendBackMessage),
      answer: { 202: Changes },
      summary: "Send work back to its agent, with the open comments as guidance",
      description:
        "In a chat, the comments become the next message. Spawned work and a routine's tick start again on their branch. For a swarm, retry its tasks instead.",
      handler: ({ params, body, caller, answer }) =>
        answer.accepted("/v1/changes/:work_id", () => {
          const { id } = reviewed.find(params.id, caller);
          comments.sendBack(id, body ?? {}, caller);
          return reviewed.present(reviewed.loadUnchecked(id));
        }),
    }),
  ]);
}

function commentsOfRuns({ comments, views }: CommentRoutesDeps) {
  return tagOperations("runs", [
    defineOperation("listRunComments", "GET /v1/runs/:id/comments", {
      access: "user",
      ...pagesOf(RunComment),
      summary: "List the comments on a run's changes, oldest first",
      handler: ({ params, query, caller }) => {
        const { items, ...page } = comments.list(expectRunId(params.id), pageOf(query), caller);
        return { ...page, items: items.map(ofRun) };
      },
    }),
    defineOperation("createRunComment", "POST /v1/runs/:id/comments", {
      access: "user",
      scope: "runs",
      body: CommentCreate,
      answer: { 201: RunComment },
      summary: "Comment on a line or a file that a run changed",
      handler: async ({ params, body, caller, answer }) => {
        const write = await comments.add(expectRunId(params.id), body, caller);
        return answer.created("/v1/runs/:run_id/comments", () => ofRun(write()));
      },
    }),
    defineOperation("deleteRunComment", "DELETE /v1/runs/:id/comments/:comment_id", {
      access: "user",
      project: "viewer",
      scope: "runs",
      answer: 204,
      summary: "Delete a comment on a run's changes",
      handler: ({ params, caller }) => comments.remove(expectRunId(params.id), params.comment_id, caller),
    }),
    defineOperation("sendBackRun", "POST /v1/runs/:id/send-back", {
      access: "user",
      scope: "runs",
      body: t.Optional(SendBack),
      answer: { 202: Run },
      summary: "Send an ended run back for another attempt, with its open comments as guidance",
      handler: ({ params, body, caller, answer }) =>
        answer.accepted("/v1/runs/:id", () => {
          const { id } = comments.sendBack(expectRunId(params.id), body ?? {}, caller);
          return views.present(views.rowFor(id, caller));
        }),
    }),
  ]);
}
