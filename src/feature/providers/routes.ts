/**
 * `/v1/settings/providers…`, `/v1/settings/user-providers…` and `/v1/models`. Only the engine's token gets answers with
 * plain keys.
 */

import { Type as t } from "@sinclair/typebox";
import type { ModelWindows } from "../../adapter/model/window-advice.ts";
import { expectFound } from "../../core/errors.ts";
import { personOf } from "../../http/caller.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { listOf, PageQuery, pageOf, pageOfArray, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import {
  ModelUpdate,
  ModelWindow,
  Provider,
  ProviderKey,
  ProviderModel,
  ProviderTest,
  ProviderUpdate,
  UserKey,
  UserKeyUpdate,
} from "./model.ts";
import type { ModelSettings } from "./model-settings.ts";
import type { Providers } from "./service.ts";
import type { TestConnection } from "./test-connection.ts";
import type { UserKeys } from "./user-keys.ts";

const IdPath = t.Object({ id: t.String({ maxLength: 64 }) });
const ProviderPath = t.Object({ provider: t.String({ maxLength: 64 }) });
const TestBody = t.Optional(
  t.Object({
    api_key: t.Optional(UserKeyUpdate.properties.api_key),
    base_url: t.Optional(
      t.String({
        maxLength: 2_048,
        description: "Address to try. Stored keys are never sent to an address other than the stored one.",
      }),
    ),
  }),
);
const UsableModel = t.Composite([ProviderModel, t.Object({ provider: t.String() })]);

interface ProviderRoutesDeps {
  providers: Providers;
  userKeys: UserKeys;
  test: TestConnection;
  models: ModelSettings;
  windowOf: ModelWindows;
}

export function providerRoutes({ providers, userKeys, test, models, windowOf }: ProviderRoutesDeps) {
  return tagOperations("providers", [
    ...instanceRoutes({ providers, test }),
    ...modelRoutes({ models, windowOf }),
    defineOperation("listUserProviders", "GET /v1/settings/user-providers", {
      access: "user",
      ...pagesOf(UserKey),
      summary: "List your own provider keys, masked",
      handler: ({ query, caller }) => userKeys.list(pageOf(query), caller),
    }),
    defineOperation("updateUserProvider", "PUT /v1/settings/user-providers/:provider", {
      access: "user",
      params: ProviderPath,
      body: UserKeyUpdate,
      answer: UserKey,
      summary: "Set your own key for a provider, which is used first for work that you start",
      handler: ({ params, body, caller }) => userKeys.set(params.provider, body.api_key, caller),
    }),
    defineOperation("deleteUserProvider", "DELETE /v1/settings/user-providers/:provider", {
      access: "user",
      params: ProviderPath,
      answer: 204,
      summary: "Remove your own key for a provider",
      handler: ({ params, caller }) => userKeys.remove(params.provider, caller),
    }),
    defineOperation("testUserProvider", "POST /v1/settings/user-providers/:provider/test", {
      access: "user",
      params: ProviderPath,
      answer: ProviderTest,
      summary: "Test a provider with the key that your own work would use",
      handler: ({ params, caller }) => test(params.provider, {}, personOf(caller)),
    }),
    defineOperation("listModels", "GET /v1/models", {
      access: "user",
      query: t.Object({ ...PageQuery, provider: t.Optional(t.String({ maxLength: 64 })) }),
      answer: listOf(UsableModel),
      summary: "List the models that you can use now, with prices and context sizes",
      handler: ({ query, caller }) =>
        pageOfArray(
          providers
            .usableModels(caller.userId)
            .filter((model) => query.provider === undefined || model.provider === query.provider),
          pageOf(query),
          (model) => model.id,
        ),
    }),
  ]);
}

function modelRoutes({ models, windowOf }: Pick<ProviderRoutesDeps, "models" | "windowOf">) {
  return tagOperations("providers", [
    defineOperation("updateModel", "PUT /v1/settings/models", {
      access: "admin",
      strict: true,
      body: ModelUpdate,
      answer: UsableModel,
      summary: "Set the context window, prices and abilities of a model",
      handler: ({ body, caller }) => models.set(body, caller),
    }),
    defineOperation("measureModelWindow", "POST /v1/settings/models/window", {
      access: "admin",
      body: t.Object({ model: ModelUpdate.properties.model }),
      answer: ModelWindow,
      summary: "Ask a server which context window it serves, loading the model if necessary",
      handler: async ({ body, request }) => {
        return expectFound(await windowOf(body.model, { mayLoad: true, signal: request.signal }), "model");
      },
    }),
  ]);
}

function instanceRoutes({ providers, test }: Pick<ProviderRoutesDeps, "providers" | "test">) {
  return tagOperations("providers", [
    defineOperation("listProviders", "GET /v1/settings/providers", {
      access: "admin",
      ...pagesOf(Provider),
      summary: "List model providers, keys masked",
      handler: ({ query }) => providers.list(pageOf(query)),
    }),
    defineOperation("getProvider", "GET /v1/settings/providers/:id", {
      access: "admin",
      params: IdPath,
      answer: Provider,
      summary: "Get a model provider",
      handler: ({ params, answer }) => answer.tag(providers.get(params.id)),
    }),
    defineOperation("updateProvider", "PUT /v1/settings/providers/:id", {
      access: "admin",
      params: IdPath,
      body: ProviderUpdate,
      answer: Provider,
      summary: "Configure a provider, or add an OpenAI-compatible server",
      description: "An id that begins with `custom-` adds a self-hosted server and requires its `base_url`.",
      handler: ({ params, body, caller, request, answer }) => {
        if (request.headers.has("if-match")) assertIfMatch(request, providers.get(params.id));
        return answer.tag(providers.update(params.id, body, caller));
      },
    }),
    defineOperation("deleteProvider", "DELETE /v1/settings/providers/:id", {
      access: "admin",
      params: IdPath,
      answer: 204,
      summary: "Delete a provider's configuration",
      handler: ({ params, caller }) => providers.remove(params.id, caller),
    }),
    defineOperation("testProvider", "POST /v1/settings/providers/:id/test", {
      access: "admin",
      params: IdPath,
      body: TestBody,
      answer: ProviderTest,
      summary: "Test the connection to a provider and list its models",
      handler: ({ params, body }) => test(params.id, body ?? {}),
    }),
    defineOperation("listProvidersKeysAll", "GET /v1/settings/providers/keys/all", {
      access: "admin",
      credential: true,
      answer: listOf(ProviderKey),
      summary: "List every provider's key, masked except for the engine's token",
      handler: ({ caller }) => ({ items: providers.allKeys(caller), next_cursor: null }),
    }),
  ]);
}
