/** /v1/auth/api-keys. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { actorOf } from "../../http/caller.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import type { ApiKeys } from "./api-keys.ts";
import { ApiKey, ApiKeyCreate } from "./model.ts";
import { accountOf } from "./routes.ts";

const tags = ["auth"];

export function apiKeyRoutes(base: Base, apiKeys: ApiKeys) {
  return new Elysia({ name: "skep/api-keys" })
    .use(base)
    .post(
      "/v1/auth/api-keys",
      ({ body, caller, answer }) =>
        answer.created(
          (key) => `/v1/auth/api-keys/${key.id}`,
          () => apiKeys.create(accountOf(caller), body, actorOf(caller), caller.address),
          // The key is shown once: a repeat with the same Idempotency-Key is told all but the key.
          ({ key: _, ...rest }) => rest,
        ),
      {
        access: "user",
        body: ApiKeyCreate,
        response: { 201: ApiKey },
        detail: { tags, summary: "Create an API key; shown once" },
      },
    )
    .get("/v1/auth/api-keys", ({ query, caller }) => apiKeys.list(caller.userId ?? "", pageOf(query)), {
      access: "user",
      query: t.Object(PageQuery),
      response: { 200: listOf(ApiKey) },
      detail: { tags, summary: "My API keys" },
    })
    .delete(
      "/v1/auth/api-keys/:id",
      ({ params, caller, set }) => {
        apiKeys.remove(accountOf(caller), params.id, actorOf(caller), caller.address);
        set.status = 204;
      },
      {
        access: "user",
        params: t.Object({ id: t.String() }),
        response: { 204: t.Void() },
        detail: { tags, summary: "Revoke an API key" },
      },
    );
}
