import { BUILD } from "../../core/version.ts";
import type { EngineService } from "../engine/feature.ts";
import { type Core, defineFeature } from "../feature.ts";
import { statusRoutes } from "./routes.ts";
import { createStatus } from "./service.ts";

export const status = defineFeature("status", (deps: Core & { engine: Pick<EngineService, "sandbox"> }) => {
  const { docker, eventLog, engine, contributions, metrics } = deps;
  const service = createStatus({
    ...deps,
    version: BUILD.version,
    authRequired: deps.config.authRequired,
    lastEventId: eventLog.lastId,
    dockerVersion: async () => (docker ? (await docker.info()).version : undefined),
    counts: contributions.counts,
    startFailures: () => contributions.startFailures,
    sandbox: { kind: engine.sandbox.name, shell: engine.sandbox.shell },
  });
  // Routes are created at once, because health is asked for before anything else.
  return {
    service: { notReady: service.notReady },
    routes: statusRoutes({ ...service, metrics: metrics.render, metricsType: metrics.contentType }),
  };
});
