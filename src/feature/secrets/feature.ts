import type { Agents } from "../agents/service.ts";
import { type Core, defineFeature } from "../feature.ts";
import { secretRoutes } from "./routes.ts";
import { createSecrets } from "./service.ts";

export const secrets = defineFeature("secrets", (deps: Core & { agents: Pick<Agents, "exists"> }) => {
  const service = createSecrets({ ...deps, agentExists: deps.agents.exists });
  return {
    service,
    routes: secretRoutes(deps.base, service, { engineTokenSet: deps.keys.engineToken !== undefined }),
  };
});
