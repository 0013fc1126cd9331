import { createGit } from "../../adapter/git.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Pipelines } from "../pipelines/service.ts";
import { RUN_ENDS } from "../runs/events.ts";
import { createClones } from "./clones.ts";
import { projectRoutes } from "./routes.ts";
import { createRunWorkspaces } from "./run-workspaces.ts";
import { createProjects } from "./service.ts";
import { createProjectStore } from "./store.ts";

export const projects = defineFeature("projects", (deps: Core & { pipelines: Pick<Pipelines, "exists"> }) => {
  const { config, store, clock, log, bus, base, guard, folder } = deps;
  const git = createGit({ env: config.hostEnv });
  const rows = createProjectStore(store, clock);
  const { isListed, assertSpelling } = guard;
  const rules = { allowLocal: config.allowLocalRepositories, isListed, assertSpelling };
  const own = { ...deps, git, rows, rules, folder: folder.projects };
  const clones = createClones(own);
  const workspaces = createRunWorkspaces({ ...own, workspaces: folder.workspaces, projects: folder.projects });
  const { releaseAll } = workspaces;
  const service = createProjects({ ...own, clones, releaseAll, pipelineExists: deps.pipelines.exists });
  const unsubscribe = bus.subscribe(RUN_ENDS, ({ run_id: id, project_id }) => {
    if (id !== undefined)
      workspaces.release({ id, project_id }).catch((err) => log.warn({ err, run: id }, "worktree not removed"));
  });
  return {
    service: {
      ...service,
      workspaces,
      /** Undefined when there is none. */
      find: (id: string) => (service.exists(id) ? service.get(id) : undefined),
    },
    routes: projectRoutes(base, service),
    counts: () => ({ projects: service.count() }),
    start: service.recover,
    async stop() {
      unsubscribe();
      await clones.stop();
    },
  };
});
