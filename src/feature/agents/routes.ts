/** /v1/agents and /v1/agent-tools. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { assertIfMatch, etagOf } from "../../http/etag.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { Agent, AgentDetail, type agentBodies } from "./model.ts";
import type { Agents } from "./service.ts";

const tags = ["agents"];
const AgentPath = t.Object({ id: t.String() });
const locationOf = (agent: AgentDetail) => `/v1/agents/${agent.id}`;

export function agentRoutes(base: Base, agents: Agents, bodies: ReturnType<typeof agentBodies>) {
  /** The tag is the file's: it does not change because the agent begins to work. */
  const tagged = (set: { headers: Record<string, unknown> }, agent: AgentDetail): AgentDetail => {
    set.headers["ETag"] = etagOf(agents.version(agent.id));
    return agent;
  };
  return new Elysia({ name: "skep/agents" })
    .use(base)
    .get("/v1/agents", ({ query }) => agents.list(pageOf(query)), {
      access: "user",
      query: t.Object(PageQuery),
      response: { 200: listOf(Agent) },
      detail: { tags, summary: "List agents, by id" },
    })
    .post("/v1/agents", ({ body, caller, answer }) => answer.created(locationOf, () => agents.create(body, caller)), {
      access: "admin",
      body: bodies.create,
      response: { 201: AgentDetail },
      detail: { tags, summary: "Create an agent" },
    })
    .get("/v1/agents/:id", ({ params, set }) => tagged(set, agents.get(params.id)), {
      access: "user",
      params: AgentPath,
      response: { 200: AgentDetail },
      detail: { tags, summary: "One agent with its prompt" },
    })
    .put(
      "/v1/agents/:id/config",
      ({ params, body, caller, request, set }) => {
        assertIfMatch(request, agents.version(params.id));
        return tagged(set, agents.configure(params.id, body, caller));
      },
      {
        access: "admin",
        params: AgentPath,
        body: bodies.change,
        response: { 200: AgentDetail },
        detail: { tags, summary: "Change an agent's configuration; comments in its file stay" },
      },
    )
    .delete(
      "/v1/agents/:id",
      ({ params, caller, request, set }) => {
        assertIfMatch(request, agents.version(params.id));
        agents.remove(params.id, caller);
        set.status = 204;
      },
      {
        access: "admin",
        params: AgentPath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Delete an agent with its skills" },
      },
    );
}
