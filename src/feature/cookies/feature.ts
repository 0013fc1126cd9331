import type { agents } from "../agents/feature.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import { cookieRoutes } from "./routes.ts";
import { createCookies } from "./service.ts";

type Needs = Core & { agents: Pick<ServiceOf<typeof agents>, "exists" | "powers"> };

export const cookies = defineFeature("cookies", (deps: Needs) => {
  const service = createCookies({ ...deps, agentExists: deps.agents.exists, boundsOf: deps.agents.powers.boundsOf });
  return {
    service,
    routes: () => cookieRoutes(service),
    handOver: (from) => service.removeOf(from),
  };
});
