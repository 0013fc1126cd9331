import type { agents } from "../agents/feature.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { Notifications } from "../notifications/service.ts";
import { secretRoutes } from "./routes.ts";
import { createSecrets } from "./service.ts";
import { createSecretValues } from "./values.ts";

/** How long replaced values stay masked, in days. */
const REPLACED_DAYS = 30;

type Needs = Core & {
  agents: Pick<ServiceOf<typeof agents>, "exists" | "powers">;
  notifications: Pick<Notifications, "notify" | "resolve">;
};

export const secrets = defineFeature("secrets", (deps: Needs) => {
  const values = createSecretValues(deps);
  const service = createSecrets({
    ...deps,
    values,
    agentExists: deps.agents.exists,
    boundsOf: deps.agents.powers.boundsOf,
  });
  // Loaded before anything else starts, so that the first agent's output is masked already.
  values.load();
  return {
    service,
    routes: () => secretRoutes(service, { engineTokenSet: deps.keys.engineToken !== undefined }),
    prunes: [{ keep: REPLACED_DAYS, run: values.prune }],
  };
});
