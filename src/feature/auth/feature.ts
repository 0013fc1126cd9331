import { type Core, defineFeature } from "../feature.ts";
import type { OidcService } from "../oidc/service.ts";
import { apiKeyRoutes } from "./key-routes.ts";
import { authRoutes } from "./routes.ts";
import { type Auth, createAuth } from "./service.ts";

/**
 * Accounts and their sessions, without the routes. Logging out at a provider needs single sign-on, which in turn needs
 * these.
 */
export const accounts = defineFeature("accounts", (deps: Core) => {
  const service = createAuth({ ...deps, dataRoot: deps.folder.root, signingKey: deps.keys.signingKey() });
  return { service, prunes: [{ keep: null, run: service.prune }] };
});

export const auth = defineFeature("auth", (deps: Core & { accounts: Auth; oidc: OidcService }) => {
  const { store, site, accounts, oidc } = deps;
  return {
    routes: () => [
      ...authRoutes({ auth: accounts, store, site, providerLogout: oidc.signOn.logoutUrl }),
      ...apiKeyRoutes({ apiKeys: accounts.apiKeys, store }),
    ],
  };
});
