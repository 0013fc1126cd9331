import { createGit } from "../../adapter/git.ts";
import { openGuarded } from "../../adapter/guarded-fetch.ts";
import { killMarked } from "../../adapter/sandbox/process/marked-processes.ts";
import { HOUR_MS } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import { readFrontMatter } from "../../engine/front-matter.ts";
import type { CodeHostConnection } from "../codehost/connection.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { Pipelines } from "../pipelines/service.ts";
import type { SettingsService } from "../settings/service.ts";
import { createWorkBranches } from "./branches.ts";
import { cloneOpener, createClones } from "./clones.ts";
import { projectEvents } from "./events.ts";
import { createLfs } from "./lfs.ts";
import { parseRepository } from "./repository-address.ts";
import { createRepositoryTexts } from "./repository-text.ts";
import { projectRoutes } from "./routes.ts";
import { createProjects } from "./service.ts";
import { createProjectSources } from "./source.ts";
import { createProjectStore } from "./store.ts";
import { createSubmodules } from "./submodules.ts";
import { createTurns, onFirstCall } from "./turns.ts";
import { createUpdates } from "./updates.ts";
import { createWorks } from "./works.ts";
import { createWorkspaces } from "./workspaces.ts";
import { createWorktreeRelease } from "./worktree-release.ts";

const SWEEP_MS = 600_000;
const REPACK_MS = 6 * HOUR_MS;
/** Environment variable that identifies the git processes of an earlier process of this server. */
const GIT_MARK = "SKEP_GIT";

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  jobs: Jobs;
  pipelines: Pick<Pipelines, "exists">;
  codehostConnection: Pick<CodeHostConnection, "authorizationFor">;
};

export const projects = defineFeature(
  "projects",
  (deps: Needs) => {
    const { config, store, clock, log, bus, guard, folder } = deps;
    const life = newId("instance");
    const git = createGit({ env: { ...config.hostEnv, [GIT_MARK]: `${deps.instanceId}/${life}` } });
    const rows = createProjectStore(store, clock);
    const { isListed, assertSpelling } = guard;
    const rules = { allowLocal: config.localRepositories, isListed, assertSpelling };
    const { authorizationFor } = deps.codehostConnection;
    /**
     * Ends git processes that a killed server left. They would go on writing, possibly for half an hour of cloning, so
     * no work in a clone begins before that.
     */
    const endOldGits = onFirstCall(() => killMarked(deps.instanceId, (id) => id === life, GIT_MARK));
    const openClone = cloneOpener({ rows, git, folder: folder.projects });
    const turns = createTurns(async (id) => {
      await endOldGits();
      await openClone(id);
    });
    const own = { ...deps, ...turns, git, rows, rules, folder: folder.projects, authorizationFor };
    const clones = createClones(own);
    const updates = createUpdates(own);
    const { refresh, settle } = updates;
    const gitDepth = () => deps.settings.get().sandbox.git_depth;
    const submodules = createSubmodules(own);
    const lfs = createLfs({
      ...own,
      open: (address, request) => openGuarded(address, { ...request, resolve: guard.resolve }),
    });
    const places = { workspaces: folder.workspaces, projects: folder.projects };
    const works = createWorks(store);
    const workspaces = createWorkspaces({ ...own, ...places, works, submodules, lfs, refresh, gitDepth });
    const branches = createWorkBranches({ ...own, works, settle });
    const listUnmerged = branches.listUnmerged;
    const service = createProjects({
      ...own,
      clones,
      listUnmerged,
      atWork: works.atWork,
      async discard(id) {
        await updates.stop(id);
        await workspaces.releaseAll(id);
        await clones.discard(id);
      },
      update: updates.start,
      switchTo: updates.switchTo,
      pipelineExists: deps.pipelines.exists,
    });
    const texts = createRepositoryTexts({ ...own, readFrontMatter });
    const sources = createProjectSources(own);
    const worktrees = createWorktreeRelease({ bus, log, works, workspaces });
    return {
      service: {
        ...service,
        works,
        workspaces,
        branches,
        /** What the project's repository says about itself to agents. */
        texts,
        /** What the project's branch holds, for work on a copy of it. */
        sources,
        /** Brings the clone up to date in the background. @throws Problem 409. */
        fetch: updates.start,
        /**
         * An address in the form in which a project stores it.
         * @throws Problem 422 for an address that is unusable or holds credentials.
         */
        repositoryAddress: (text: string) => parseRepository(text, rules).source,
        /** Undefined when there is none. */
        find: (id: string) => (rows.find(id) ? service.get(id) : undefined),
      },
      routes: () => projectRoutes(service, updates),
      counts: () => ({ projects: service.count() }),
      async start() {
        await endOldGits();
        await service.recover();
      },
      jobs: [clones.definition, updates.definition],
      prunes: [{ keep: "merged_branches_days", run: branches.sweepMerged }],
      duties: [
        { name: "worktrees", everyMs: SWEEP_MS, run: worktrees.sweep },
        {
          name: "repack",
          everyMs: REPACK_MS,
          async run(signal) {
            for (const id of await workspaces.listUnpacked()) if (!signal.aborted) await workspaces.repack(id, signal);
          },
        },
      ],
      stop: worktrees.stop,
    };
  },
  projectEvents,
);
