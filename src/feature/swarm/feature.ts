import type { Agents } from "../agents/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { projects } from "../projects/feature.ts";
import type { providers } from "../providers/feature.ts";
import type { Sessions } from "../sessions/service.ts";
import type { SettingsService } from "../settings/service.ts";
import { swarmEvents } from "./events.ts";
import { createProgress, SWARM_TIMEOUT } from "./progress.ts";
import { swarmRoutes } from "./routes.ts";
import { createSwarms } from "./service.ts";
import { createSwarmRows } from "./store.ts";
import { swarmTools } from "./tools.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  providers: Pick<ServiceOf<typeof providers>, "wrongModel">;
  projects: Pick<ServiceOf<typeof projects>, "exists">;
  agents: Pick<Agents, "ready" | "exists">;
  sessions: Sessions;
};

export const swarm = defineFeature(
  "swarm",
  (deps: Needs) => {
    const { store, clock, clockwork, bus, settings, providers, projects, agents, sessions } = deps;
    const timeoutSeconds = () => settings.get().limits.timeout_seconds;
    const rows = createSwarmRows(store);
    const progress = createProgress({ ...deps, rows, timeoutSeconds });
    sessions.own("swarm", progress.owner);
    const deadlinesChanged = clockwork.add({
      name: "swarms",
      nextAt: rows.nextDeadline,
      run: () =>
        store.write((tx) => {
          for (const { id, timeout_seconds } of rows.late(clock.now()))
            progress.stop(tx, id, "failed", {
              code: SWARM_TIMEOUT,
              message: `The swarm took longer than its ${timeout_seconds} s.`,
            });
        }),
    });
    const swarms = createSwarms({
      ...deps,
      rows,
      progress,
      timeoutSeconds,
      deadlinesChanged,
      assertAgent: (id) => void agents.ready(id),
      agentExists: agents.exists,
      projectExists: projects.exists,
      wrongModel: providers.wrongModel,
    });
    return { service: swarms, routes: () => swarmRoutes(swarms), tools: swarmTools({ swarms, bus }) };
  },
  swarmEvents,
);
