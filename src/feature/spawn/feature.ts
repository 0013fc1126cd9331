import { isProblem } from "../../core/errors.ts";
import type { Agents } from "../agents/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { projects } from "../projects/feature.ts";
import type { providers } from "../providers/feature.ts";
import type { Sessions } from "../sessions/service.ts";
import type { SettingsService } from "../settings/service.ts";
import type { Tasks } from "../tasks/service.ts";
import { spawnRoutes } from "./routes.ts";
import { createSpawns } from "./service.ts";
import { spawnTools } from "./tools.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  providers: Pick<ServiceOf<typeof providers>, "wrongModel">;
  projects: Pick<ServiceOf<typeof projects>, "exists">;
  agents: Pick<Agents, "ready">;
  sessions: Sessions;
  tasks: Pick<Tasks, "get">;
};

export const spawn = defineFeature("spawn", (deps: Needs) => {
  const { bus, settings, providers, projects, agents, tasks } = deps;
  const service = createSpawns({
    ...deps,
    assertAgent: (id) => void agents.ready(id),
    projectExists: projects.exists,
    taskExists(projectId, taskId) {
      try {
        tasks.get(projectId, taskId);
        return true;
      } catch (error) {
        if (isProblem(error)) return false;
        throw error;
      }
    },
    wrongModel: providers.wrongModel,
    timeoutSeconds: () => settings.get().limits.timeout_seconds,
  });
  return { service, routes: () => spawnRoutes(service), tools: spawnTools({ spawns: service, bus }) };
});
