/** /v1/agent-tools: tools switched on or off for one agent, in effect at its next turn. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { notFound } from "../../core/errors.ts";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { ToolOverride } from "./model.ts";
import type { Agents } from "./service.ts";
import type { ToolOverrides } from "./tool-overrides.ts";

const tags = ["agents"];
const AgentPath = t.Object({ agent_id: t.String() });
const ToolPath = t.Object({ agent_id: t.String(), tool: t.String() });

export function agentToolRoutes(base: Base, agents: Pick<Agents, "exists">, overrides: ToolOverrides) {
  const known = (agentId: string): string => {
    if (!agents.exists(agentId)) throw notFound("agent");
    return agentId;
  };
  return new Elysia({ name: "skep/agent-tools" })
    .use(base)
    .get("/v1/agent-tools/:agent_id", ({ params, query }) => overrides.list(known(params.agent_id), pageOf(query)), {
      access: "user",
      params: AgentPath,
      query: t.Object(PageQuery),
      response: { 200: listOf(ToolOverride) },
      detail: { tags, summary: "Tool overrides of an agent" },
    })
    .put(
      "/v1/agent-tools/:agent_id/:tool",
      ({ params, body, caller }) => overrides.set(known(params.agent_id), params.tool, body.enabled, caller),
      {
        access: "admin",
        params: ToolPath,
        body: t.Object({ enabled: t.Boolean() }),
        response: { 200: ToolOverride },
        detail: { tags, summary: "Switch a tool on or off for an agent" },
      },
    )
    .delete(
      "/v1/agent-tools/:agent_id/:tool",
      ({ params, set }) => {
        overrides.remove(known(params.agent_id), params.tool);
        set.status = 204;
      },
      {
        access: "admin",
        params: ToolPath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Remove a tool override" },
      },
    );
}
