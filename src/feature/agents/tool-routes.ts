/** /v1/agent-tools: switches tools on or off for one agent. A change takes effect at the agent's next turn. */

import { Type as t } from "@sinclair/typebox";
import { notFound } from "../../core/errors.ts";
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { ToolOverride } from "./model.ts";
import type { Agents } from "./service.ts";
import type { ToolOverrides } from "./tool-overrides.ts";

export function agentToolRoutes(agents: Pick<Agents, "exists">, overrides: ToolOverrides) {
  const requireAgent = (agentId: string): string => {
    if (!agents.exists(agentId)) throw notFound("agent");
    return agentId;
  };
  return tagOperations("agents", [
    defineOperation("listAgentTools", "GET /v1/agent-tools/:agent_id", {
      access: "user",
      ...pagesOf(ToolOverride),
      summary: "List an agent's tool overrides",
      handler: ({ params, query }) => overrides.list(requireAgent(params.agent_id), pageOf(query)),
    }),
    defineOperation("updateAgentTool", "PUT /v1/agent-tools/:agent_id/:tool", {
      access: "admin",
      body: t.Object({ enabled: t.Boolean() }),
      answer: ToolOverride,
      summary: "Switch a tool on or off for an agent",
      handler: ({ params, body, caller }) =>
        overrides.set(requireAgent(params.agent_id), params.tool, body.enabled, caller),
    }),
    defineOperation("deleteAgentTool", "DELETE /v1/agent-tools/:agent_id/:tool", {
      access: "admin",
      answer: 204,
      summary: "Remove a tool override",
      handler: ({ params }) => overrides.remove(requireAgent(params.agent_id), params.tool),
    }),
  ]);
}
