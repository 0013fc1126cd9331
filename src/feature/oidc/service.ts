/** Single sign-on, put together: the providers and the flow through them. */
import type { OidcClient } from "../../adapter/oidc.ts";
import type { Core } from "../feature.ts";
import type { MembersOfGroups } from "../members/groups.ts";
import { createOidcProviders } from "./providers.ts";
import { createSignOn } from "./sign-on.ts";

interface OidcDeps extends Pick<Core, "store" | "clock" | "sealer" | "audit"> {
  client: OidcClient;
  endSessions(userId: string): void;
  takeGroups: MembersOfGroups;
}

export type OidcService = ReturnType<typeof createOidc>;

export function createOidc(deps: OidcDeps) {
  const providers = createOidcProviders(deps);
  return {
    providers,
    probe: deps.client.probe,
    signOn: createSignOn({ ...deps, providers }),
  };
}
