/** /v1/runs/{id}/connections and /v1/agents/{id}/allowed-hosts. */
import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { AgentDetail } from "../agents/model.ts";
import { type AllowingAgents, allowHost } from "./allow.ts";
import { AllowedHost, EgressConnection, Verdict } from "./model.ts";
import type { Egress } from "./service.ts";

export function egressRoutes(egress: Egress, agents: AllowingAgents) {
  return tagOperations("egress", [
    defineOperation("listRunConnections", "GET /v1/runs/:id/connections", {
      access: "user",
      query: t.Object({ ...PageQuery, verdict: t.Optional(Verdict) }),
      answer: listOf(EgressConnection),
      summary: "List the connections that the programs of a run's agents made or attempted, newest first",
      handler: ({ params, query, caller }) => egress.list(params.id, query.verdict, pageOf(query), caller),
    }),
    defineOperation("allowHost", "POST /v1/agents/:id/allowed-hosts", {
      access: "admin",
      body: AllowedHost,
      answer: AgentDetail,
      summary: "Add a host to an agent's network allow-list; it takes effect with the next sandbox",
      handler: ({ params, body, caller }) => allowHost(agents, params.id, body, caller),
    }),
  ]);
}
