/** Single sign-on, put together: the providers and the flow through them. */
import type { OidcClient } from "../../adapter/oidc.ts";
import type { Clock } from "../../core/clock.ts";
import type { Sealer } from "../../core/sealing.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store } from "../../store/store.ts";
import type { MembersOfGroups } from "../members/groups.ts";
import { createOidcProviders } from "./providers.ts";
import { createSignOn } from "./sign-on.ts";

interface OidcDeps {
  store: Store;
  clock: Clock;
  sealer: Sealer;
  audit: Audit;
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
