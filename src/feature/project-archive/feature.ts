/** Projects as archives, for keeping or for importing into another server. */
import { BUILD } from "../../core/version.ts";
import type { Agents } from "../agents/service.ts";
import type { Environments } from "../environments/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { Pipelines } from "../pipelines/service.ts";
import type { projects } from "../projects/feature.ts";
import type { RunsService } from "../runs/service.ts";
import type { Secrets } from "../secrets/service.ts";
import type { tasks } from "../tasks/feature.ts";
import { createArchiveWriter } from "./export.ts";
import { createArchiveReader } from "./import.ts";
import { projectArchiveRoutes } from "./routes.ts";

type Needs = Core & {
  pipelines: Pick<Pipelines, "exists">;
  projects: Pick<ServiceOf<typeof projects>, "get" | "create">;
  environments: Pick<Environments, "of" | "accept">;
  agents: Pick<Agents, "exists">;
  secrets: Pick<Secrets, "get" | "valueOf" | "create">;
  runs: Pick<RunsService, "views">;
  tasks: Pick<ServiceOf<typeof tasks>, "list" | "policies" | "importInto">;
};

export const projectArchive = defineFeature("projectArchive", (deps: Needs) => {
  const write = createArchiveWriter({ ...deps, version: BUILD.version, runs: deps.runs.views });
  const read = createArchiveReader({
    ...deps,
    pipelineExists: deps.pipelines.exists,
    agentExists: deps.agents.exists,
  });
  return { service: {}, routes: () => projectArchiveRoutes({ write, read }) };
});
