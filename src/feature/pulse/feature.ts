import { isAtLeast } from "../../core/ownership.ts";
import type { Agents } from "../agents/service.ts";
import type { Budgets } from "../budgets/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { projects } from "../projects/feature.ts";
import type { providers } from "../providers/feature.ts";
import type { Sessions } from "../sessions/service.ts";
import type { StorageService } from "../storage/service.ts";
import { pulseEvents } from "./events.ts";
import { createObstacles } from "./obstacles.ts";
import { pulseRoutes } from "./routes.ts";
import { createPulses } from "./service.ts";
import { createPulseStore } from "./store.ts";
import { createTicks } from "./ticks.ts";
import { pulseTools } from "./tools.ts";

const REPLAN_MS = 10 * 60_000;

type Needs = Core & {
  providers: Pick<ServiceOf<typeof providers>, "wrongModel">;
  projects: Pick<ServiceOf<typeof projects>, "exists">;
  agents: Pick<Agents, "ready" | "exists">;
  budgets: Pick<Budgets, "check">;
  storage: Pick<StorageService, "fullWorkspaces">;
  sessions: Sessions;
};

export const pulse = defineFeature(
  "pulse",
  (deps: Needs) => {
    const { store, clockwork, masking, contributions, providers, projects, agents, budgets, sessions } = deps;
    const rows = createPulseStore(store);
    const projectExists = projects.exists;
    const { wrongModel } = providers;
    const obstacles = createObstacles({
      rows,
      agentReady: agents.ready,
      wrongModel,
      mayWorkIn(project, userId) {
        const role = deps.access.roleOf(userId, project, project);
        const asker = { admin: userId === null, userId: userId ?? undefined, projects: deps.access.within(project) };
        return projectExists(project, asker) && role !== null && isAtLeast(role, "contributor");
      },
      fullWorkspaces: deps.storage.fullWorkspaces,
      overdrawn(agentId, userId) {
        const over = budgets.check({ agentId, userId, estimateUsd: 0 });
        return over && `The budget is used up: $${over.spentUsd.toFixed(4)} of $${over.limitUsd} (${over.scope}).`;
      },
    });
    const ticks = createTicks({
      ...deps,
      rows,
      obstacles,
      mask: masking.text,
      timeoutOf: (agentId) => agents.ready(agentId).settings.timeout_seconds,
    });
    sessions.own("pulse", ticks.owner);
    // While this server is a copy of another instance, it leaves routines to that instance. Once activated, it treats
    // their past times as missed, like a server that was off.
    const onChange = clockwork.add({
      ...ticks.due,
      nextAt: () => (deps.standby.since() === null ? ticks.due.nextAt() : null),
    });
    deps.standby.whenActive(onChange);
    const service = createPulses({
      ...deps,
      rows,
      ticks,
      obstacles,
      agentExists: agents.exists,
      projectExists,
      wrongModel,
      onChange,
      toolNames: () => [...new Set(contributions.tools.flatMap((source) => source.names()))],
    });
    return {
      service: { ...service, due: ticks.due, replan: ticks.replan },
      routes: () => pulseRoutes(service),
      tools: pulseTools(rows),
      duties: [
        {
          name: "plans of routines",
          everyMs: REPLAN_MS,
          run() {
            ticks.replan();
            onChange();
          },
        },
      ],
      prunes: [{ keep: "jobs_days", run: service.prune }],
      handOver: service.handOver,
      counts: () => ({ routines: rows.count() }),
    };
  },
  pulseEvents,
);
