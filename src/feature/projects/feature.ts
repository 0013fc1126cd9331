import { Type as t } from "@sinclair/typebox";
import { createGit } from "../../adapter/git.ts";
import { openGuarded } from "../../adapter/guarded-fetch.ts";
import { killMarked } from "../../adapter/sandbox/process/marked-processes.ts";
import { newId } from "../../core/ids.ts";
import { defineJob } from "../../core/jobs.ts";
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
import { projectRoutes } from "./routes.ts";
import { createProjects } from "./service.ts";
import { createProjectStore } from "./store.ts";
import { createSubmodules } from "./submodules.ts";
import { createTurns, onFirstCall } from "./turns.ts";
import { createUpdates } from "./updates.ts";
import { createWorks, type WorkRow } from "./works.ts";
import { createWorkspaces } from "./workspaces.ts";
import { createWorktreeRelease } from "./worktree-release.ts";

const SWEEP_MS = 600_000;
const DISCARD_ATTEMPTS = 5;
/** Variable by which the git processes of an earlier life of this server are known. */
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
    /** A killed server's git goes on writing, for a clone of half an hour too: no work in a clone begins before it has ended. */
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
    /** The working copy and the branch of a session that is gone. */
    const discards = defineJob(
      "discard_branch",
      t.Object({ id: t.String(), project_id: t.String(), branch: t.String() }),
      async ({ branch, ...work }) => {
        await workspaces.discard(work, branch);
        return undefined;
      },
      { attempts: DISCARD_ATTEMPTS },
    );
    /** Inside the transaction that removes the session. */
    const discardWork = ({ id, project_id, branch, user_id }: WorkRow): void => {
      if (project_id !== null && branch !== null)
        deps.jobs.enqueue(discards, { id, project_id, branch }, { subject: branch, userId: user_id ?? undefined });
    };
    const unmerged = branches.unmerged;
    const service = createProjects({
      ...own,
      clones,
      unmerged,
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
    const worktrees = createWorktreeRelease({ bus, log, works, workspaces });
    return {
      service: {
        ...service,
        works,
        workspaces,
        branches,
        discardWork,
        /** Brings the clone up to date in the background. @throws Problem 409. */
        fetch: updates.start,
        /** An address as a project stores it. @throws Problem 422 for one that is not usable, or holds credentials. */
        repositoryAddress: (text: string) => parseRepository(text, rules).source,
        /** Undefined when there is none. */
        find: (id: string) => (service.exists(id) ? service.get(id) : undefined),
      },
      routes: () => projectRoutes(service, updates),
      counts: () => ({ projects: service.count() }),
      async start() {
        await endOldGits();
        await service.recover();
      },
      jobs: [clones.definition, updates.definition, discards],
      prunes: [{ keep: "merged_branches_days", run: branches.sweepMerged }],
      duties: [{ name: "worktrees", everyMs: SWEEP_MS, run: worktrees.sweep }],
      stop: worktrees.stop,
    };
  },
  projectEvents,
);
