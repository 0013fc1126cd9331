import type { Agents } from "../agents/service.ts";
import { type Core, defineFeature } from "../feature.ts";
import { cookieRoutes } from "./routes.ts";
import { createCookies } from "./service.ts";

export const cookies = defineFeature("cookies", (deps: Core & { agents: Pick<Agents, "exists"> }) => {
  const service = createCookies({ ...deps, agentExists: deps.agents.exists });
  return {
    service,
    routes: () => cookieRoutes(deps.base, service),
    handOver: (from) => service.removeOf(from),
  };
});
