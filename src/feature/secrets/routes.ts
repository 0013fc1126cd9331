/** /v1/secrets. Nothing here but `env` ever answers a value. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { conflict, forbidden } from "../../core/errors.ts";
import type { Base } from "../../http/base.ts";
import { actorOf, assertOwnAgent, type Caller } from "../../http/caller.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { Secret, SecretCreate, SecretUpdate } from "./model.ts";
import type { Secrets } from "./service.ts";
import { damagedText } from "./values.ts";

const tags = ["secrets"];
const AgentPath = t.Object({ agent_id: t.String() });
const GrantPath = t.Object({ id: t.String(), agent_id: t.String() });
const locationOf = (secret: Secret) => `/v1/secrets/${secret.secret_id}`;

/**
 * Who may read plaintext: the engine token, or the token of a running execution of that agent. Open to anybody only
 * while no engine token is configured and no credentials are required.
 */
function assertMayReadEnv(caller: Caller, agentId: string, engineTokenSet: boolean): void {
  if (caller.kind === "engine") return;
  if (caller.execution) assertOwnAgent(caller, agentId);
  else if (engineTokenSet) throw forbidden("The engine's token is needed here.");
}

export function secretRoutes(base: Base, secrets: Secrets, { engineTokenSet }: { engineTokenSet: boolean }) {
  return new Elysia({ name: "skep/secrets" })
    .use(base)
    .get("/v1/secrets", ({ query }) => secrets.list(pageOf(query)), {
      access: "user",
      query: t.Object(PageQuery),
      response: { 200: listOf(Secret) },
      detail: { tags, summary: "List secrets, masked" },
    })
    .post("/v1/secrets", ({ body, caller, answer }) => answer.created(locationOf, () => secrets.create(body, caller)), {
      access: "admin",
      body: SecretCreate,
      response: { 201: Secret },
      detail: { tags, summary: "Create a secret" },
    })
    .get("/v1/secrets/:id", ({ params }) => secrets.get(params.id), {
      access: "user",
      params: t.Object({ id: t.String({ description: "Id or name." }) }),
      response: { 200: Secret },
      detail: { tags, summary: "One secret, masked" },
    })
    .put("/v1/secrets/:id", ({ params, body, caller }) => secrets.update(params.id, body, caller), {
      access: "admin",
      params: t.Object({ id: t.String({ description: "Id or name." }) }),
      body: SecretUpdate,
      response: { 200: Secret },
      detail: { tags, summary: "Change or rotate a secret" },
    })
    .delete(
      "/v1/secrets/:id",
      ({ params, caller, set }) => {
        secrets.remove(params.id, caller);
        set.status = 204;
      },
      {
        access: "admin",
        params: t.Object({ id: t.String({ description: "Id or name." }) }),
        response: { 204: t.Void() },
        detail: { tags, summary: "Delete a secret and all its grants" },
      },
    )
    .post(
      "/v1/secrets/:id/grant/:agent_id",
      ({ params, caller }) => secrets.grant(params.id, params.agent_id, caller),
      {
        access: "admin",
        params: GrantPath,
        response: { 200: Secret },
        detail: { tags, summary: "Grant a secret to an agent" },
      },
    )
    .delete(
      "/v1/secrets/:id/grant/:agent_id",
      ({ params, caller, set }) => {
        secrets.revoke(params.id, params.agent_id, caller);
        set.status = 204;
      },
      {
        access: "admin",
        params: GrantPath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Revoke a secret from an agent" },
      },
    )
    .get("/v1/secrets/agents/:agent_id", ({ params, query }) => secrets.grantedTo(params.agent_id, pageOf(query)), {
      access: "user",
      params: AgentPath,
      query: t.Object(PageQuery),
      response: { 200: listOf(Secret) },
      detail: { tags, summary: "Secrets granted to an agent, masked" },
    })
    .get(
      "/v1/secrets/agents/:agent_id/env",
      ({ params, caller }) => {
        assertMayReadEnv(caller, params.agent_id, engineTokenSet);
        const { env, damaged } = secrets.envOf(params.agent_id, { actor: actorOf(caller), address: caller.address });
        if (damaged.length > 0) throw conflict(damagedText(damaged), "secret_damaged", { secrets: damaged });
        return env;
      },
      {
        access: "env",
        execution: true,
        params: AgentPath,
        response: { 200: t.Object({}, { additionalProperties: t.String() }) },
        detail: { tags, summary: "Plaintext environment of an agent, for the engine" },
      },
    );
}
