/** /v1/projects/{id}/members, /v1/projects/{id}/access. */
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { AccessAnswer, AccessUpdate, Member, MemberAdd, MemberUpdate } from "./model.ts";
import type { Members } from "./service.ts";

export const memberRoutes = (members: Members) =>
  tagOperations("projects", [
    defineOperation("listProjectMembers", "GET /v1/projects/:id/members", {
      access: "user",
      ...pagesOf(Member),
      summary: "List the members of a project with their roles",
      handler: ({ params, query, caller }) => members.list(params.id, pageOf(query), caller),
    }),
    defineOperation("addProjectMember", "POST /v1/projects/:id/members", {
      access: "user",
      project: "owner",
      body: MemberAdd,
      answer: { 201: Member },
      summary: "Add an account as a member, by default as a contributor",
      handler: ({ params, body, caller, answer }) =>
        answer.created(
          ({ user_id }) => `/v1/projects/${params.id}/members/${user_id}`,
          () => members.add(params.id, body, caller),
        ),
    }),
    defineOperation("setProjectMember", "PUT /v1/projects/:id/members/:user_id", {
      access: "user",
      project: "owner",
      body: MemberUpdate,
      answer: Member,
      summary: "Change a member's role",
      handler: ({ params, body, caller }) => members.set(params.id, params.user_id, body.role, caller),
    }),
    defineOperation("removeProjectMember", "DELETE /v1/projects/:id/members/:user_id", {
      access: "user",
      project: "viewer",
      answer: 204,
      summary: "Remove a member or leave the project",
      description:
        "Removing somebody else takes an owner. The removed member's work in the project stops before its next call of a model or a tool.",
      handler: ({ params, caller }) => members.remove(params.id, params.user_id, caller),
    }),
    defineOperation("openProject", "PUT /v1/projects/:id/access", {
      access: "user",
      project: "owner",
      body: AccessUpdate,
      answer: AccessAnswer,
      summary: "Open a project to everyone, to its members, or only to its owner",
      handler: ({ params, body, caller }) => members.open(params.id, body.access, caller),
    }),
  ]);
