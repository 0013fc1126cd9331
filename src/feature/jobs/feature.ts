import { type Core, defineFeature } from "../feature.ts";
import { jobRoutes } from "./routes.ts";
import { createJobs } from "./service.ts";

export const jobs = defineFeature("jobs", (deps: Core) => {
  const service = createJobs(deps);
  service.recover();
  return {
    service,
    routes: jobRoutes(deps.base, service),
    handOver: service.handOver,
    prunes: [{ keep: "jobs_days", run: service.prune }],
    stop: service.stop,
  };
});
