import { readFrontMatter, updateFrontMatter } from "../../engine/front-matter.ts";
import { createCreateSkillTool } from "../../engine/tool/create-skill.ts";
import { createLoadSkillTool } from "../../engine/tool/load-skill.ts";
import { toolsOf } from "../../engine/tool.ts";
import { checkFiles } from "../doctor/model.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Team } from "../team/feature.ts";
import { skillRoutes } from "./routes.ts";
import { createSkills } from "./service.ts";

export const skills = defineFeature("skills", ({ store, team }: Core & { team: Team }) => {
  const format = { read: readFrontMatter, update: updateFrontMatter };
  const service = createSkills({
    store,
    folder: team.folder,
    format,
    agentIds: team.files.ids,
    lookAtAgents: team.files.look,
  });
  return {
    service,
    handOver: service.removeOf,
    routes: () => skillRoutes(service),
    checks: () => [checkFiles("skills", service.files())],
    tools: toolsOf("skills", [createLoadSkillTool(service.forAgents), createCreateSkillTool(service.forAgents)]),
  };
});
