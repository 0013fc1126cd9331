/** /v1/auth/api-keys, and every user's keys for administrators. */

import { notFound } from "../../core/errors.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import type { Store } from "../../store/store.ts";
import { users } from "../../store/tables/accounts.ts";
import { mayRead, WHOSE } from "../../store/whose.ts";
import type { ApiKeys } from "./api-keys.ts";
import { ApiKey, ApiKeyCreate } from "./model.ts";
import { accountOf } from "./routes.ts";

export function apiKeyRoutes({ apiKeys, store }: { apiKeys: ApiKeys; store: Store }) {
  const people = store.rows(users);
  /** @throws Problem 404 for an unknown user, and for another user unless the caller is an administrator. */
  function visibleUser(id: string, caller: Caller): string {
    const mine = mayRead(caller, WHOSE.api_keys, { user_id: id });
    if (!mine || !people.find({ id })) throw notFound("user");
    return id;
  }
  return tagOperations("auth", [
    defineOperation("createApiKey", "POST /v1/auth/api-keys", {
      access: "user",
      scope: "accounts",
      body: ApiKeyCreate,
      answer: { 201: ApiKey },
      summary: "Create an API key, which is shown only once",
      handler: ({ body, caller, answer }) =>
        answer.created(
          "/v1/auth/api-keys/:id",
          () => apiKeys.create(accountOf(caller), body, actorOf(caller), caller.address),
          // The key is shown once: a repeated request with the same Idempotency-Key gets the answer without the key.
          ({ key: _, ...rest }) => rest,
        ),
    }),
    defineOperation("listApiKeys", "GET /v1/auth/api-keys", {
      access: "user",
      credential: true,
      ...pagesOf(ApiKey),
      summary: "List your API keys",
      handler: ({ query, caller }) => apiKeys.list(caller.userId ?? "", pageOf(query)),
    }),
    defineOperation("getApiKey", "GET /v1/auth/api-keys/:id", {
      access: "user",
      credential: true,
      answer: ApiKey,
      summary: "Get one of your API keys",
      handler: ({ params, caller }) => apiKeys.get(accountOf(caller), params.id),
    }),
    defineOperation("deleteApiKey", "DELETE /v1/auth/api-keys/:id", {
      access: "user",
      scope: "accounts",
      answer: 204,
      summary: "Revoke one of your API keys",
      handler: ({ params, caller }) => apiKeys.remove(accountOf(caller), params.id, actorOf(caller), caller.address),
    }),
    defineOperation("listUserApiKeys", "GET /v1/users/:id/api-keys", {
      access: "user",
      credential: true,
      ...pagesOf(ApiKey),
      tag: "users",
      summary: "List a user's API keys; only administrators can see those of other users",
      handler: ({ params, query, caller }) => apiKeys.list(visibleUser(params.id, caller), pageOf(query)),
    }),
    defineOperation("deleteUserApiKey", "DELETE /v1/users/:id/api-keys/:key_id", {
      access: "user",
      scope: "accounts",
      answer: 204,
      tag: "users",
      summary: "Revoke a user's API key",
      handler: ({ params, caller }) =>
        apiKeys.remove(visibleUser(params.id, caller), params.key_id, actorOf(caller), caller.address),
    }),
  ]);
}
