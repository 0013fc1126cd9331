/**
 * `/v1/projects/{id}/invitations` for people who invite, and `/v1/invitations` for people who were invited. The latter
 * send the token in the body only.
 */
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Invitation, InvitationCreate, Joined, MadeInvitation, Offer, TokenBody } from "./model.ts";
import type { Invitations } from "./service.ts";

export const invitationRoutes = (invitations: Invitations) =>
  tagOperations("projects", [
    defineOperation("listProjectInvitations", "GET /v1/projects/:id/invitations", {
      access: "user",
      project: "maintainer",
      ...pagesOf(Invitation),
      summary: "List the invitations to a project without their tokens, newest first",
      handler: ({ params, query, caller }) => invitations.list(params.id, pageOf(query), caller),
    }),
    defineOperation("createProjectInvitation", "POST /v1/projects/:id/invitations", {
      access: "user",
      project: "maintainer",
      credential: true,
      body: InvitationCreate,
      answer: { 201: MadeInvitation },
      summary: "Create a link that invites people to a project, as contributors unless `role` says otherwise",
      description:
        "Requires the role maintainer or owner; the invitation cannot give a higher role than yours. People need an account to use it. It ends when its creator may no longer give its role.",
      handler: ({ params, body, caller, answer }) =>
        answer.created(
          ({ id }) => `/v1/projects/${params.id}/invitations/${id}`,
          () => invitations.create(params.id, body, caller),
        ),
    }),
    defineOperation("revokeProjectInvitation", "DELETE /v1/projects/:id/invitations/:invitation_id", {
      access: "user",
      project: "maintainer",
      answer: 204,
      summary: "Revoke an invitation; people who joined with it stay",
      handler: ({ params, caller }) => invitations.revoke(params.id, params.invitation_id, caller),
    }),
    defineOperation("readInvitation", "POST /v1/invitations/read", {
      access: "user",
      scope: "read",
      limit: "invitation",
      body: TokenBody,
      answer: Offer,
      summary: "Get what an invitation offers, by its token",
      handler: ({ body, caller }) => invitations.read(body.token, caller),
    }),
    defineOperation("acceptInvitation", "POST /v1/invitations/accept", {
      access: "user",
      limit: "invitation",
      body: TokenBody,
      answer: Joined,
      summary: "Join a project with the token of an invitation",
      handler: ({ body, caller }) => invitations.accept(body.token, caller),
    }),
  ]);
