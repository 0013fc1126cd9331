/** Caches of package managers: folders in the home that the sandboxes of a project's work keep. */
import { createCacheVolumes } from "../../adapter/sandbox/docker/caches.ts";
import { whyNoCaches } from "../../core/caches.ts";
import { HOUR_MS } from "../../core/clock.ts";
import { environmentChanged } from "../environments/events.ts";
import type { Environments } from "../environments/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { projects } from "../projects/feature.ts";
import { environmentCacheRoutes } from "./routes.ts";
import { createEnvironmentCaches } from "./service.ts";

type Needs = Core & {
  projects: Pick<ServiceOf<typeof projects>, "find">;
  environments: Pick<Environments, "definitionOf">;
};

export const environmentCaches = defineFeature("environmentCaches", (deps: Needs) => {
  const { config, docker, instanceId, bus } = deps;
  const why = whyNoCaches(config, docker !== undefined);
  const service = createEnvironmentCaches({
    ...deps,
    why,
    volumes: docker && why === undefined ? createCacheVolumes(docker, instanceId) : undefined,
    localUser: !config.authRequired,
    environmentOf: deps.environments.definitionOf,
  });
  const unsubscribe = bus.subscribe([environmentChanged], () => void service.sweep());
  return {
    service,
    routes: () => environmentCacheRoutes(service),
    duties: [{ name: "caches", everyMs: HOUR_MS, run: service.sweep }],
    stop: unsubscribe,
  };
});
