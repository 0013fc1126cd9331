import { createGit } from "../../adapter/git.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { Pipelines } from "../pipelines/service.ts";
import { createClones } from "./clones.ts";
import { projectEvents } from "./events.ts";
import { projectRoutes } from "./routes.ts";
import { createRunWorkspaces } from "./run-workspaces.ts";
import { createProjects } from "./service.ts";
import { createProjectStore } from "./store.ts";
import { createWorktreeRelease } from "./worktree-release.ts";

const SWEEP_MS = 600_000;

export const projects = defineFeature(
  "projects",
  (deps: Core & { jobs: Jobs; pipelines: Pick<Pipelines, "exists"> }) => {
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
    const worktrees = createWorktreeRelease({ store, bus, log, workspaces });
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
      jobs: [clones.definition],
      duties: [{ name: "worktrees", everyMs: SWEEP_MS, run: worktrees.sweep }],
      stop: worktrees.stop,
    };
  },
  projectEvents,
);
