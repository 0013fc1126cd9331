/** /v1/agents and /v1/agent-tools. */

import { assertIfMatch, etagOf } from "../../http/etag.ts";
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Agent, AgentDetail, type agentBodies, PermissionPreview, PermissionPreviewBody } from "./model.ts";
import type { createPermissionPreview } from "./preview.ts";
import type { Agents } from "./service.ts";

const LOCATION = "/v1/agents/:id";

export function agentRoutes(
  agents: Agents,
  bodies: ReturnType<typeof agentBodies>,
  preview: ReturnType<typeof createPermissionPreview>,
) {
  /** The entity tag is computed from the agent's file, so it does not change when the agent starts to work. */
  const tag = (set: { headers: Record<string, unknown> }, agent: AgentDetail): AgentDetail => {
    set.headers["ETag"] = etagOf(agents.version(agent.id));
    return agent;
  };
  return tagOperations("agents", [
    defineOperation("listAgents", "GET /v1/agents", {
      access: "user",
      ...pagesOf(Agent),
      summary: "List agents, sorted by id",
      handler: ({ query }) => agents.listInTurns(pageOf(query)),
    }),
    defineOperation("createAgent", "POST /v1/agents", {
      access: "admin",
      body: bodies.create,
      answer: { 201: AgentDetail },
      summary: "Create an agent",
      handler: ({ body, caller, answer }) => answer.created(LOCATION, () => agents.create(body, caller)),
    }),
    defineOperation("getAgent", "GET /v1/agents/:id", {
      access: "user",
      answer: AgentDetail,
      summary: "Get an agent with its prompt",
      handler: ({ params, set }) => tag(set, agents.get(params.id)),
    }),
    defineOperation("updateAgentConfig", "PUT /v1/agents/:id/config", {
      access: "admin",
      strict: true,
      body: bodies.change,
      answer: AgentDetail,
      summary: "Change an agent's configuration; comments in its file are kept",
      handler: ({ params, body, caller, request, set }) => {
        assertIfMatch(request, agents.version(params.id));
        return tag(set, agents.configure(params.id, body, caller));
      },
    }),
    defineOperation("previewAgentPermissions", "POST /v1/agents/:id/permissions/preview", {
      access: "user",
      scope: "read",
      strict: true,
      body: PermissionPreviewBody,
      answer: PermissionPreview,
      summary: "Preview what permission rules decide about a tool call; nothing is changed",
      handler: ({ params, body }) => preview(params.id, body),
    }),
    defineOperation("deleteAgent", "DELETE /v1/agents/:id", {
      access: "admin",
      answer: 204,
      summary: "Delete an agent and its skills",
      handler: ({ params, caller, request }) => {
        assertIfMatch(request, agents.version(params.id));
        agents.remove(params.id, caller);
      },
    }),
  ]);
}
