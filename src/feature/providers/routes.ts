/** /v1/settings/providers…, /v1/settings/user-providers… and /v1/models. No key in any answer but the engine's. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { listOf, PageQuery, pageOf, pageOfArray } from "../../http/list.ts";
import { Provider, ProviderKey, ProviderModel, ProviderTest, ProviderUpdate, UserKey, UserKeyUpdate } from "./model.ts";
import type { Providers } from "./service.ts";
import type { TestConnection } from "./test-connection.ts";
import { keyOwner, type UserKeys } from "./user-keys.ts";

const tags = ["providers"];
const IdPath = t.Object({ id: t.String({ maxLength: 64 }) });
const ProviderPath = t.Object({ provider: t.String({ maxLength: 64 }) });
const TestBody = t.Optional(
  t.Object({
    api_key: t.Optional(UserKeyUpdate.properties.api_key),
    base_url: t.Optional(t.String({ maxLength: 2_048, description: "Stored keys are not sent to another address." })),
  }),
);
const UsableModel = t.Composite([ProviderModel, t.Object({ provider: t.String() })]);

export interface ProviderRoutesDeps {
  providers: Providers;
  userKeys: UserKeys;
  test: TestConnection;
}

export function providerRoutes(base: Base, { providers, userKeys, test }: ProviderRoutesDeps) {
  return new Elysia({ name: "skep/providers" })
    .use(base)
    .use(instanceRoutes(base, { providers, test }))
    .get("/v1/settings/user-providers", ({ query, caller }) => userKeys.list(pageOf(query), caller), {
      access: "user",
      query: t.Object(PageQuery),
      response: { 200: listOf(UserKey) },
      detail: { tags, summary: "Own provider keys, masked" },
    })
    .put(
      "/v1/settings/user-providers/:provider",
      ({ params, body, caller }) => userKeys.set(params.provider, body.api_key, caller),
      {
        access: "user",
        params: ProviderPath,
        body: UserKeyUpdate,
        response: { 200: UserKey },
        detail: { tags, summary: "Set your own key, used first for what you start" },
      },
    )
    .delete(
      "/v1/settings/user-providers/:provider",
      ({ params, caller, set }) => {
        userKeys.remove(params.provider, caller);
        set.status = 204;
      },
      {
        access: "user",
        params: ProviderPath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Remove your own key" },
      },
    )
    .post(
      "/v1/settings/user-providers/:provider/test",
      ({ params, caller }) => test(params.provider, {}, keyOwner(caller)),
      {
        access: "user",
        params: ProviderPath,
        response: { 200: ProviderTest },
        detail: { tags, summary: "Try a provider with the key that your own work would use" },
      },
    )
    .get(
      "/v1/models",
      ({ query, caller }) =>
        pageOfArray(
          providers
            .usableModels(caller.userId)
            .filter((model) => query.provider === undefined || model.provider === query.provider),
          pageOf(query),
          (model) => model.id,
        ),
      {
        access: "user",
        query: t.Object({ ...PageQuery, provider: t.Optional(t.String({ maxLength: 64 })) }),
        response: { 200: listOf(UsableModel) },
        detail: { tags, summary: "Models that you can use now, with prices and context sizes" },
      },
    );
}

function instanceRoutes(base: Base, { providers, test }: Pick<ProviderRoutesDeps, "providers" | "test">) {
  return new Elysia({ name: "skep/instance-providers" })
    .use(base)
    .get("/v1/settings/providers", ({ query }) => providers.list(pageOf(query)), {
      access: "admin",
      query: t.Object(PageQuery),
      response: { 200: listOf(Provider) },
      detail: { tags, summary: "Model providers, keys masked" },
    })
    .get("/v1/settings/providers/:id", ({ params, answer }) => answer.tagged(providers.get(params.id)), {
      access: "admin",
      params: IdPath,
      response: { 200: Provider },
      detail: { tags, summary: "One provider" },
    })
    .put(
      "/v1/settings/providers/:id",
      ({ params, body, caller, request, answer }) => {
        if (request.headers.has("if-match")) assertIfMatch(request, providers.get(params.id));
        return answer.tagged(providers.update(params.id, body, caller));
      },
      {
        access: "admin",
        params: IdPath,
        body: ProviderUpdate,
        response: { 200: Provider },
        detail: {
          tags,
          summary: "Configure a provider, or add an OpenAI-compatible server",
          description: "An id that begins with `custom-` adds a self-hosted server: give its `base_url`.",
        },
      },
    )
    .delete(
      "/v1/settings/providers/:id",
      ({ params, caller, set }) => {
        providers.remove(params.id, caller);
        set.status = 204;
      },
      {
        access: "admin",
        params: IdPath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Forget a provider's configuration" },
      },
    )
    .post("/v1/settings/providers/:id/test", ({ params, body }) => test(params.id, body ?? {}), {
      access: "admin",
      params: IdPath,
      body: TestBody,
      response: { 200: ProviderTest },
      detail: { tags, summary: "Try the connection and list the models live" },
    })
    .get("/v1/settings/providers/keys/all", ({ caller }) => ({ items: providers.allKeys(caller), next_cursor: null }), {
      access: "admin",
      response: { 200: listOf(ProviderKey) },
      detail: { tags, summary: "Every provider's key: masked, plaintext for the engine's token alone" },
    });
}
