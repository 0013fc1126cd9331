import { createCatalogue } from "../../adapter/model/catalogue.ts";
import { listModels } from "../../adapter/model/live-models.ts";
import { normalizeBaseUrl, providerEntry, splitModel } from "../../adapter/model/providers.ts";
import { createModelWindows } from "../../adapter/model/window-advice.ts";
import { maskedSealer } from "../../core/masking.ts";
import { userProviderKeys } from "../../store/tables/providers.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Notifications } from "../notifications/service.ts";
import type { SettingsService } from "../settings/service.ts";
import { createKeyWatch } from "./key-watch.ts";
import { createProviderKeys } from "./keys.ts";
import { createModelSettings } from "./model-settings.ts";
import { providerRoutes } from "./routes.ts";
import { createProviders, providerOverrides } from "./service.ts";
import { createTestConnection } from "./test-connection.ts";
import { createUserKeys } from "./user-keys.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "defaultModel">;
  notifications: Pick<Notifications, "notify" | "resolve" | "isOpen">;
};

export const providers = defineFeature("providers", (deps: Needs) => {
  const { store, clock, config, masking, settings, notifications } = deps;
  const catalogue = createCatalogue({
    clock,
    overrides: providerOverrides(store, (id) => providerEntry(id)?.priceId !== undefined),
  });
  const watch = createKeyWatch(notifications);
  const ownKeys = store.rows(userProviderKeys);
  const own = {
    ...deps,
    sealer: maskedSealer(deps.sealer, masking, "provider-key"),
    catalogue,
    providerEnv: config.providerEnv,
    localUser: !config.authRequired,
    defaultModel: settings.defaultModel,
    listModels: (endpoint: Parameters<typeof listModels>[0]) => listModels(endpoint, { clock }),
    normalizeBaseUrl,
    splitModel,
    keyChanged: watch.keyChanged,
    isRefused: watch.isRefused,
    onTest: watch.onTest,
  };
  for (const [name, value] of Object.entries(config.providerEnv))
    if (name.endsWith("_API_KEY")) masking.add(name, value.trim());
  const keys = createProviderKeys(own);
  keys.openAll();
  const service = createProviders({ ...own, keys });
  const userKeys = createUserKeys({ ...own, keys });
  const test = createTestConnection({ ...own, keys, saw: service.saw });
  const windowOf = createModelWindows({ keys, prices: catalogue, clock });
  const models = createModelSettings({ ...own, keys, providers: service });
  return {
    service: {
      windowOf,
      catalogue,
      keys,
      onModelCall: watch.onModelCall,
      anyConfigured: service.anyConfigured,
      stateOf: service.stateOf,
      wrongModel: service.wrongModel,
    },
    routes: () => providerRoutes({ providers: service, userKeys, test, models, windowOf }),
    /** A deleted user's keys are deleted, never passed to an heir. */
    handOver(from) {
      store.write(() => ownKeys.remove({ user_id: from }));
    },
  };
});
