/** The set-up of projects' code: it is done once, and sandboxes start from its image. */
import { join } from "node:path";
import { createAgentImages } from "../../adapter/sandbox/docker/agent-image.ts";
import { createImageBuilds } from "../../adapter/sandbox/docker/image-build.ts";
import { createSetUps } from "../../adapter/sandbox/docker/set-up.ts";
import { HOUR_MS } from "../../core/clock.ts";
import { SHELL } from "../../engine/sandbox.ts";
import type { Egress } from "../egress/service.ts";
import type { EnvironmentCaches } from "../environment-caches/service.ts";
import type { EnvironmentServicesService } from "../environment-services/service.ts";
import { environmentChanged } from "../environments/events.ts";
import type { Environments } from "../environments/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import { workspaceChanged } from "../projects/events.ts";
import type { projects } from "../projects/feature.ts";
import type { SettingsService } from "../settings/service.ts";
import { setupEvents } from "./events.ts";
import { whyNoSetUps } from "./model.ts";
import { setupRoutes } from "./routes.ts";
import { createSetups } from "./service.ts";

type Needs = Core & {
  jobs: Pick<Jobs, "enqueue" | "live" | "end">;
  settings: Pick<SettingsService, "get">;
  projects: Pick<ServiceOf<typeof projects>, "find" | "sources">;
  environments: Pick<Environments, "definitionOf" | "dockerfileOf">;
  egress: Pick<Egress, "openTo">;
  environmentCaches: Pick<EnvironmentCaches, "foldersOfSetUp">;
  environmentServices: Pick<EnvironmentServicesService, "beside">;
};

export const setups = defineFeature(
  "setups",
  (deps: Needs) => {
    const { config, settings, bus } = deps;
    const service = createSetups({
      ...deps,
      ...openSetUps(deps),
      folder: join(deps.folder.cache, "set-ups"),
      argvOf: (line: string) => ["sh", "-c", SHELL, "sh", line],
      sources: deps.projects.sources,
      services: deps.environmentServices,
      cachesOf: deps.environmentCaches.foldersOfSetUp,
      settings: () => {
        const { memory_mb, cpus, runtime } = settings.get().sandbox;
        return { memory_mb, cpus, runtime };
      },
      environmentOf: deps.environments.definitionOf,
      dockerfileOf: deps.environments.dockerfileOf,
      defaultImage: () => settings.get().sandbox.image ?? config.agentImage,
    });
    const unsubscribe = bus.subscribe([environmentChanged, workspaceChanged], ({ project_id, data }) => {
      if (project_id && !("cause" in data && data.cause === "commit")) service.begin(project_id);
    });
    return {
      service,
      routes: () => setupRoutes(service),
      jobs: [service.definition],
      duties: [{ name: "set-ups", everyMs: HOUR_MS, run: service.sweep }],
      checks: service.findings,
      stop: unsubscribe,
    };
  },
  setupEvents,
);

/** The container engine on which set-ups are made: the one that sandboxes use. */
function openSetUps({ docker, config, instanceId, clock, log, replaced }: Needs) {
  const server = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const why = whyNoSetUps(config, docker !== undefined && replaced.sandboxes === undefined);
  if (why !== undefined || !docker) return { setUps: undefined, builds: undefined, why: why ?? "" };
  const images = createAgentImages({ docker, pull: config.imagePull, onNotice: (message) => log.info(message) });
  return {
    setUps: createSetUps({ docker, instanceId, images, server, clock }),
    builds: createImageBuilds({ docker, instanceId, clock }),
    why: "",
  };
}
