import type { WriteTx } from "../../store/store.ts";
import type { Budgets } from "../budgets/service.ts";
import { type Core, defineFeature } from "../feature.ts";
import { usageEvents } from "./events.ts";
import type { LlmCall } from "./model.ts";
import { usageRoutes } from "./routes.ts";
import { createUsageLog } from "./service.ts";
import { createUsageTrends } from "./trends.ts";

type Needs = Core & { budgets: Budgets; providers: { onModelCall(call: LlmCall): void } };

export const usage = defineFeature(
  "usage",
  ({ store, clock, budgets, providers }: Needs) => {
    const onModelCall = (_tx: WriteTx, call: LlmCall) => providers.onModelCall(call);
    const service = createUsageLog({ store, clock, onRecorded: [budgets.onModelCall, onModelCall] });
    return {
      service,
      routes: () => usageRoutes({ usage: service, trends: createUsageTrends(store), clock, budgets: budgets.states }),
      prunes: [{ keep: "llm_calls_days", run: service.prune }],
    };
  },
  usageEvents,
);
