import { type Core, defineFeature } from "../feature.ts";
import type { UsageLog } from "../usage/service.ts";
import { sessionEvents } from "./events.ts";
import { createSessions } from "./service.ts";

export const sessions = defineFeature(
  "sessions",
  ({ store, clock, usage }: Core & { usage: Pick<UsageLog, "recordCall"> }) => {
    const service = createSessions({ store, clock, recordCall: usage.recordCall });
    return { service, counts: () => ({ active_sessions: service.liveExecutions().length }) };
  },
  sessionEvents,
);
