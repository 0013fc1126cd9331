import type { agents } from "../agents/feature.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import { harnessLoginRoutes } from "./routes.ts";
import { createHarnessLogins } from "./service.ts";

type Needs = Core & { agents: Pick<ServiceOf<typeof agents>, "exists"> };

export const harnessLogins = defineFeature("harnessLogins", (deps: Needs) => {
  const service = createHarnessLogins({
    ...deps,
    agentExists: deps.agents.exists,
    localUser: !deps.config.authRequired,
  });
  service.maskAll();
  return {
    service,
    routes: () => harnessLoginRoutes(service),
    handOver: (from) => service.removeOf(from),
  };
});
