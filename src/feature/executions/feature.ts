import { type Core, defineFeature } from "../feature.ts";
import type { UsageLog } from "../usage/service.ts";
import { executionEvents } from "./events.ts";
import { createExecutions } from "./service.ts";

export const executions = defineFeature(
  "executions",
  ({ store, clock, usage }: Core & { usage: Pick<UsageLog, "recordCall"> }) => {
    const service = createExecutions({ store, clock, recordCall: usage.recordCall });
    return { service, counts: () => ({ active_sessions: service.live().length }) };
  },
  executionEvents,
);
