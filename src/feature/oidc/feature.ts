import { createOidcClient } from "../../adapter/oidc.ts";
import type { Auth } from "../auth/service.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Members } from "../members/service.ts";
import { oidcRoutes } from "./routes.ts";
import { createOidc } from "./service.ts";

export const oidc = defineFeature("oidc", (deps: Core & { accounts: Auth; members: Pick<Members, "takeGroups"> }) => {
  const { log, site, accounts } = deps;
  const client = createOidcClient((why, detail) => log.warn(detail, why));
  const service = createOidc({
    ...deps,
    client,
    endSessions: accounts.forUsers.endSessions,
    takeGroups: deps.members.takeGroups,
  });
  return { service, routes: () => oidcRoutes({ ...service, site, open: accounts.openSignOn }) };
});
