/** Controls which hosts agents' programs may reach, and records their connections. */
import { createAuthority } from "../../adapter/egress/certificate.ts";
import { createEgressProxy } from "../../adapter/egress/proxy.ts";
import type { agents } from "../agents/feature.ts";
import type { Environments } from "../environments/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { RunsService } from "../runs/service.ts";
import type { Secrets } from "../secrets/service.ts";
import { egressEvents } from "./events.ts";
import { egressRoutes } from "./routes.ts";
import { createEgress } from "./service.ts";

type Needs = Core & {
  runs: Pick<RunsService, "views">;
  agents: Pick<ServiceOf<typeof agents>, "get" | "configure">;
  environments: Pick<Environments, "hostsOf">;
  secrets: Pick<Secrets, "edgeFor" | "edgeNames">;
};

export const egress = defineFeature(
  "egress",
  (deps: Needs) => {
    const { runs, agents, environments } = deps;
    const assertRun = (id: string, caller: Parameters<typeof runs.views.rowFor>[1]) =>
      void runs.views.rowFor(id, caller);
    const service = createEgress({
      ...deps,
      createProxy: createEgressProxy,
      createAuthority,
      assertRun,
      hostsOf: environments.hostsOf,
    });
    return { service, routes: () => egressRoutes(service, agents) };
  },
  egressEvents,
);
