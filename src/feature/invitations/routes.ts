/**
 * `/v1/projects/{id}/invitations` for people who invite, and `/v1/invitations` for people who were invited. The latter
 * send the token in the body only.
 */
import { pageOf, pagesOf } from "../../http/list.ts";
import { operation, operations } from "../../http/operation.ts";
import { Invitation, InvitationCreate, Joined, MadeInvitation, Offer, TokenBody } from "./model.ts";
import type { Invitations } from "./service.ts";

export const invitationRoutes = (invitations: Invitations) =>
  operations("projects", [
    operation("listProjectInvitations", "GET /v1/projects/:id/invitations", {
      access: "user",
      project: "maintainer",
      ...pagesOf(Invitation),
      summary: "Invitations to a project, newest first; without their tokens",
      handler: ({ params, query, caller }) => invitations.list(params.id, pageOf(query), caller),
    }),
    operation("createProjectInvitation", "POST /v1/projects/:id/invitations", {
      access: "user",
      project: "maintainer",
      credential: true,
      body: InvitationCreate,
      answer: { 201: MadeInvitation },
      summary: "Invite by a link to a project, as a contributor unless `role` says otherwise",
      description:
        "Takes a member who is a maintainer or an owner, and gives no role above theirs. Who uses it needs an account. It ends with the rights of who made it.",
      handler: ({ params, body, caller, answer }) =>
        answer.created(
          ({ id }) => `/v1/projects/${params.id}/invitations/${id}`,
          () => invitations.create(params.id, body, caller),
        ),
    }),
    operation("revokeProjectInvitation", "DELETE /v1/projects/:id/invitations/:invitation_id", {
      access: "user",
      project: "maintainer",
      answer: 204,
      summary: "Revoke an invitation; who has joined by it stays",
      handler: ({ params, caller }) => invitations.revoke(params.id, params.invitation_id, caller),
    }),
    operation("readInvitation", "POST /v1/invitations/read", {
      access: "user",
      scope: "read",
      limit: "invitation",
      body: TokenBody,
      answer: Offer,
      summary: "What an invitation is to, for who has its token",
      handler: ({ body, caller }) => invitations.read(body.token, caller),
    }),
    operation("acceptInvitation", "POST /v1/invitations/accept", {
      access: "user",
      limit: "invitation",
      body: TokenBody,
      answer: Joined,
      summary: "Join a project by the token of an invitation",
      handler: ({ body, caller }) => invitations.accept(body.token, caller),
    }),
  ]);
