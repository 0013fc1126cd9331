import { agentsOf, pipelineJsonSchema } from "../../engine/pipeline/definition.ts";
import { parsePipeline } from "../../engine/pipeline/parse.ts";
import { checkFiles } from "../doctor/model.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Skills } from "../skills/service.ts";
import type { Team } from "../team/feature.ts";
import { pipelineRoutes } from "./routes.ts";
import { createPipelines } from "./service.ts";

type Needs = Core & { team: Team; skills: Pick<Skills, "readableBy" | "look"> };

export const pipelines = defineFeature("pipelines", ({ store, audit, team, skills }: Needs) => {
  const { folder, files } = team;
  const service = createPipelines({
    store,
    audit,
    folder,
    parse: parsePipeline,
    agentsOf,
    agentIds: files.ids,
    skillsOf: skills.readableBy,
    lookAtTeam: skills.look,
  });
  return {
    service,
    routes: () => pipelineRoutes(service, pipelineJsonSchema),
    counts: () => ({ pipelines: service.listIds().length }),
    checks: () => [checkFiles("pipelines", service.files())],
  };
});
