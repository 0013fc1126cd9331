/** `/v1/permissions`: single requests with their answers, and remembered answers. */
import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { PermissionAnswer, PermissionRequest, RememberedAnswer } from "./model.ts";
import type { PermissionService } from "./service.ts";

const Id = t.Optional(t.String({ maxLength: 100 }));

export function permissionRoutes(permissions: PermissionService) {
  return tagOperations("permissions", [
    defineOperation("getPermissionRequest", "GET /v1/permissions/requests/:id", {
      access: "user",
      answer: PermissionRequest,
      summary: "Get a request for permission to make a call",
      handler: ({ params, caller }) => permissions.get(params.id, caller),
    }),
    defineOperation("answerPermissionRequest", "POST /v1/permissions/requests/:id/answer", {
      access: "user",
      scope: "runs",
      strict: true,
      body: PermissionAnswer,
      answer: PermissionRequest,
      summary: "Allow or refuse a call, after which the work continues",
      handler: ({ params, body, caller }) => permissions.answer(params.id, body, caller),
    }),
    defineOperation("listPermissionAnswers", "GET /v1/permissions/answers", {
      access: "user",
      query: t.Object({ ...PageQuery, agent_id: Id, run_id: Id, session_id: Id }),
      answer: listOf(RememberedAnswer),
      summary: "List remembered answers for runs, chats and agents, newest first",
      handler: ({ query: { agent_id, run_id, session_id, ...query }, caller }) =>
        permissions.answers({ agent_id, run_id, session_id }, pageOf(query), caller),
    }),
    defineOperation("revokePermissionAnswer", "DELETE /v1/permissions/answers/:id", {
      access: "user",
      scope: "runs",
      answer: 204,
      summary: "Revoke a remembered answer, so that the rule asks again",
      handler: ({ params, caller }) => permissions.revoke(params.id, caller),
    }),
  ]);
}
