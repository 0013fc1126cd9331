import { type Core, defineFeature } from "../feature.ts";
import type { RunsService } from "../runs/service.ts";
import { eventEvents } from "./events.ts";
import { eventRoutes } from "./routes.ts";

export const events = defineFeature(
  "events",
  ({ base, streams, tickets, eventLog, contributions, runs }: Core & { runs: Pick<RunsService, "views"> }) => ({
    routes: eventRoutes(base, { streams, tickets, catalogue: contributions.events, assertRun: runs.views.rowFor }),
    handOver: eventLog.handOver,
    prunes: [{ keep: null, run: eventLog.prune }],
  }),
  eventEvents,
);
