import { type Core, defineFeature } from "../feature.ts";
import { jobEvents } from "./events.ts";
import { jobRoutes } from "./routes.ts";
import { createJobs } from "./service.ts";

export const jobs = defineFeature(
  "jobs",
  (deps: Core) => {
    const service = createJobs(deps);
    return {
      service,
      routes: () => jobRoutes(service),
      handOver: service.handOver,
      prunes: [{ keep: "jobs_days", run: service.prune }],
      start() {
        service.register(...deps.contributions.jobs);
        service.start();
      },
      stop: service.stop,
    };
  },
  jobEvents,
);
