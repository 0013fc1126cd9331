/** The parts of the feature, put together. */
import { eq } from "drizzle-orm";
import type { Catalogue } from "../../adapter/model/catalogue.ts";
import type { ProviderEntry } from "../../adapter/model/providers.ts";
import type { Clock } from "../../core/clock.ts";
import type { Sealer } from "../../core/sealing.ts";
import type { Caller } from "../../http/caller.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store, WriteTx } from "../../store/store.ts";
import { userProviderKeys } from "../../store/tables/providers.ts";
import type { LlmCall } from "../usage/model.ts";
import { createKeyWatch, type KeyWatchDeps } from "./key-watch.ts";
import { createProviderKeys, type ProviderKeys } from "./keys.ts";
import type { ProviderRoutesDeps } from "./routes.ts";
import { createProviders } from "./service.ts";
import { createTestConnection, type ListModels } from "./test-connection.ts";
import { createUserKeys } from "./user-keys.ts";

export interface ProviderFeatureDeps {
  store: Store;
  clock: Clock;
  sealer: Sealer;
  audit: Audit;
  catalogue: Catalogue;
  /** Provider keys and addresses of the environment. */
  providerEnv: Readonly<Record<string, string>>;
  /** Nobody logs in. */
  localUser: boolean;
  notices: KeyWatchDeps;
  defaultModel: { get(): string | null; set(model: string | null, caller: Caller): void };
  listModels: ListModels;
  normalizeBaseUrl(entry: ProviderEntry, given?: string): string | undefined;
}

export interface ProviderFeature extends ProviderRoutesDeps {
  /** The model adapter's port. */
  keys: ProviderKeys;
  /** To be told of every logged call. */
  watch(tx: WriteTx, call: LlmCall): void;
  /** A deleted user's keys go with the user, never to an heir. */
  handOver(from: string): void;
}

export function createProviderFeature(deps: ProviderFeatureDeps): ProviderFeature {
  const keys = createProviderKeys(deps);
  const watch = createKeyWatch(deps.notices);
  const shared = { ...deps, keys, keyChanged: watch.keyChanged };
  const providers = createProviders(shared);
  return {
    keys,
    providers,
    userKeys: createUserKeys(shared),
    test: createTestConnection({ ...shared, saw: providers.saw }),
    watch: (_tx, call) => watch.called(call),
    handOver(from) {
      deps.store.write(({ db }) => db.delete(userProviderKeys).where(eq(userProviderKeys.user_id, from)).run());
    },
  };
}
