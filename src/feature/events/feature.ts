import { type Core, defineFeature } from "../feature.ts";
import type { OpenRuns } from "../runs/open.ts";
import { eventRoutes } from "./routes.ts";

export const events = defineFeature(
  "events",
  ({ base, streams, tickets, eventLog, eventCatalogue, runs }: Core & { runs: Pick<OpenRuns, "views"> }) => ({
    routes: eventRoutes(base, { streams, tickets, catalogue: eventCatalogue, assertRun: runs.views.rowFor }),
    handOver: eventLog.handOver,
    prunes: [{ keep: null, run: eventLog.prune }],
  }),
);
