import { agentOutput, agentPlan, agentThinking, outputWithdrawn } from "../../engine/events.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { RunsService } from "../runs/service.ts";
import { toolCallEnd, toolCallStart } from "../sessions/events.ts";
import { llmCall } from "../usage/events.ts";
import { eventEvents } from "./events.ts";
import { eventRoutes } from "./routes.ts";

/** Events of what agents say and do, piece by piece: many per second, useful only to those who watch that agent. */
const FINE = [agentOutput, agentThinking, agentPlan, outputWithdrawn, toolCallStart, toolCallEnd, llmCall];

export const events = defineFeature(
  "events",
  ({ streams, tickets, eventLog, access, contributions, runs }: Core & { runs: Pick<RunsService, "views"> }) => ({
    routes: () =>
      eventRoutes({
        streams,
        tickets,
        access,
        log: eventLog,
        catalogue: contributions.events,
        assertRun: runs.views.rowFor,
        fine: new Set(FINE.map(({ kind }) => kind)),
      }),
    handOver: eventLog.handOver,
    prunes: [{ keep: "events_days", run: eventLog.prune }],
  }),
  eventEvents,
);
