/** Decides which of several container engines get work. */
import { readDockerHosts } from "../../core/docker-options.ts";
import type { EngineService } from "../engine/feature.ts";
import { type Core, defineFeature } from "../feature.ts";
import { hostEvents } from "./events.ts";
import { hostRoutes } from "./routes.ts";
import { createHosts } from "./service.ts";

export const hosts = defineFeature(
  "hosts",
  ({ store, clock, audit, config, engine }: Core & { engine: Pick<EngineService, "hosts"> }) => {
    const configured = readDockerHosts(config.dockerHosts) ?? [];
    const service = createHosts({ store, clock, audit, configured, engines: engine.hosts });
    return { service, routes: () => hostRoutes(service) };
  },
  hostEvents,
);
