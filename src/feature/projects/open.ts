/** Puts the parts of this feature together. */

import type { AddressGuard } from "../../adapter/address-guard.ts";
import type { Git } from "../../adapter/git.ts";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import type { Audit } from "../../store/audit.ts";
import type { DataFolder } from "../../store/data-folder.ts";
import type { Store } from "../../store/store.ts";
import type { Jobs } from "../jobs/service.ts";
import { createClones } from "./clones.ts";
import { createRunWorkspaces, type RunWorkspaces } from "./run-workspaces.ts";
import { createProjects, type Projects, type ProjectsDeps } from "./service.ts";
import { createProjectStore } from "./store.ts";

export interface OpenProjects extends Pick<ProjectsDeps, "pipelineExists" | "activeRuns"> {
  store: Store;
  clock: Clock;
  log: Logger;
  jobs: Jobs;
  audit: Audit;
  git: Git;
  guard: AddressGuard;
  data: DataFolder;
  /** Whether paths of this machine may be cloned. */
  allowLocal: boolean;
}

export interface ProjectsFeature {
  projects: Projects;
  workspaces: RunWorkspaces;
}

export function openProjects({ data, allowLocal, ...deps }: OpenProjects): ProjectsFeature {
  const { store, clock, git, guard } = deps;
  const folder = data.projects;
  const rows = createProjectStore(store, clock);
  const rules = { allowLocal, isListed: guard.isListed, assertSpelling: guard.assertSpelling };
  const clones = createClones({ ...deps, rows, rules, folder });
  const workspaces = createRunWorkspaces({ store, rows, git, workspaces: data.workspaces, projects: folder });
  const { releaseAll } = workspaces;
  const projects = createProjects({ ...deps, rows, clones, rules, folder, releaseAll });
  return { projects, workspaces };
}
