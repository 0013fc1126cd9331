/** `/v1/secrets`. Only `env` answers with values. */

import { Type as t } from "@sinclair/typebox";
import { conflict, forbidden } from "../../core/errors.ts";
import { actorOf, assertOwnAgent, type Caller } from "../../http/caller.ts";
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Secret, SecretCreate, SecretUpdate } from "./model.ts";
import type { Secrets } from "./service.ts";
import { damagedText } from "./values.ts";

/**
 * Who may read plaintext: the engine's token, or the token of a running execution of that agent. Anybody may only while
 * no engine token is configured and no credentials are required.
 */
function assertMayReadEnv(caller: Caller, agentId: string, engineTokenSet: boolean): void {
  if (caller.kind === "engine") return;
  if (caller.execution) assertOwnAgent(caller, agentId);
  else if (engineTokenSet) throw forbidden("The engine's token is needed here.");
}

export function secretRoutes(secrets: Secrets, { engineTokenSet }: { engineTokenSet: boolean }) {
  return tagOperations("secrets", [
    defineOperation("listSecrets", "GET /v1/secrets", {
      access: "user",
      credential: true,
      ...pagesOf(Secret),
      summary: "List secrets with masked values",
      handler: ({ query }) => secrets.list(pageOf(query)),
    }),
    defineOperation("createSecret", "POST /v1/secrets", {
      access: "admin",
      body: SecretCreate,
      answer: { 201: Secret },
      summary: "Create a secret",
      handler: ({ body, caller, answer }) =>
        answer.created("/v1/secrets/:secret_id", () => secrets.create(body, caller)),
    }),
    defineOperation("getSecret", "GET /v1/secrets/:id", {
      access: "user",
      credential: true,
      params: t.Object({ id: t.String({ description: "Id or name of the secret." }) }),
      answer: Secret,
      summary: "Get a secret with its value masked",
      handler: ({ params }) => secrets.get(params.id),
    }),
    defineOperation("updateSecret", "PUT /v1/secrets/:id", {
      access: "admin",
      params: t.Object({ id: t.String({ description: "Id or name of the secret." }) }),
      body: SecretUpdate,
      answer: Secret,
      summary: "Change or rotate a secret",
      handler: ({ params, body, caller }) => secrets.update(params.id, body, caller),
    }),
    defineOperation("deleteSecret", "DELETE /v1/secrets/:id", {
      access: "admin",
      params: t.Object({ id: t.String({ description: "Id or name of the secret." }) }),
      answer: 204,
      summary: "Delete a secret and all its grants",
      handler: ({ params, caller }) => secrets.remove(params.id, caller),
    }),
    defineOperation("createSecretGrant", "POST /v1/secrets/:id/grant/:agent_id", {
      access: "admin",
      answer: Secret,
      summary: "Grant a secret to an agent",
      handler: ({ params, caller }) => secrets.grant(params.id, params.agent_id, caller),
    }),
    defineOperation("deleteSecretGrant", "DELETE /v1/secrets/:id/grant/:agent_id", {
      access: "admin",
      answer: 204,
      summary: "Revoke an agent's grant of a secret",
      handler: ({ params, caller }) => secrets.revoke(params.id, params.agent_id, caller),
    }),
    defineOperation("listSecretsAgents", "GET /v1/secrets/agents/:agent_id", {
      access: "user",
      credential: true,
      ...pagesOf(Secret),
      summary: "List the secrets granted to an agent, masked",
      handler: ({ params, query }) => secrets.grantedTo(params.agent_id, pageOf(query)),
    }),
    defineOperation("getSecretsAgentEnv", "GET /v1/secrets/agents/:agent_id/env", {
      access: "env",
      execution: true,
      credential: true,
      answer: t.Object({}, { additionalProperties: t.String() }),
      summary: "Get an agent's environment in plain text, for the engine",
      handler: ({ params, caller }) => {
        assertMayReadEnv(caller, params.agent_id, engineTokenSet);
        const { env, damaged } = secrets.envOf(params.agent_id, {
          actor: actorOf(caller),
          address: caller.address,
          sessionId: caller.execution?.sessionId,
        });
        if (damaged.length > 0) throw conflict(damagedText(damaged), "secret_damaged", { secrets: damaged });
        return env;
      },
    }),
  ]);
}
