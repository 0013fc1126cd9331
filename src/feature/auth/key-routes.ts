/** /v1/auth/api-keys, and every user's keys for administrators. */
import { Type as t } from "@sinclair/typebox";
import { eq } from "drizzle-orm";
import { Elysia } from "elysia";
import { notFound } from "../../core/errors.ts";
import type { Base } from "../../http/base.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import { users } from "../../store/tables/accounts.ts";
import type { ApiKeys } from "./api-keys.ts";
import { ApiKey, ApiKeyCreate } from "./model.ts";
import { accountOf } from "./routes.ts";

const tags = ["auth"];
const UserPath = t.Object({ id: t.String() });

export function apiKeyRoutes(base: Base, { apiKeys, store }: { apiKeys: ApiKeys; store: Store }) {
  /** @throws Problem 404 for an unknown user, and for another user unless the caller is an administrator. */
  function visibleUser(id: string, caller: Caller): string {
    const mine = caller.admin || caller.userId === id;
    if (!mine || !store.db.select({ id: users.id }).from(users).where(eq(users.id, id)).get()) throw notFound("user");
    return id;
  }
  return new Elysia({ name: "skep/api-keys" })
    .use(base)
    .post(
      "/v1/auth/api-keys",
      ({ body, caller, answer }) =>
        answer.created(
          (key) => `/v1/auth/api-keys/${key.id}`,
          () => apiKeys.create(accountOf(caller), body, actorOf(caller), caller.address),
          // The key is shown once: a repeat with the same Idempotency-Key gets all but the key.
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
    .get("/v1/auth/api-keys/:id", ({ params, caller }) => apiKeys.get(accountOf(caller), params.id), {
      access: "user",
      params: t.Object({ id: t.String() }),
      response: { 200: ApiKey },
      detail: { tags, summary: "One of my API keys" },
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
    )
    .get(
      "/v1/users/:id/api-keys",
      ({ params, query, caller }) => apiKeys.list(visibleUser(params.id, caller), pageOf(query)),
      {
        access: "user",
        params: UserPath,
        query: t.Object(PageQuery),
        response: { 200: listOf(ApiKey) },
        detail: { tags: ["users"], summary: "A user's API keys; only administrators see those of others" },
      },
    )
    .delete(
      "/v1/users/:id/api-keys/:key_id",
      ({ params, caller, set }) => {
        apiKeys.remove(visibleUser(params.id, caller), params.key_id, actorOf(caller), caller.address);
        set.status = 204;
      },
      {
        access: "user",
        params: t.Object({ id: t.String(), key_id: t.String() }),
        response: { 204: t.Void() },
        detail: { tags: ["users"], summary: "Revoke a user's API key" },
      },
    );
}
