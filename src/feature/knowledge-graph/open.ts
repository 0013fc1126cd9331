/** Puts the parts of this feature together, and tells it what happens to projects. */
import { rm } from "node:fs/promises";
import type { Logger } from "../../core/log.ts";
import type { Bus } from "../../store/bus.ts";
import type { Store } from "../../store/store.ts";
import type { Jobs } from "../jobs/service.ts";
import { projectChanged, workspaceChanged } from "../projects/events.ts";
import { createIndexJobs } from "./index-jobs.ts";
import { createKnowledgeGraph, type KnowledgeGraph, type KnowledgeGraphDeps } from "./service.ts";

export interface OpenKnowledgeGraph extends Omit<KnowledgeGraphDeps, "jobs"> {
  store: Store;
  bus: Bus;
  log: Logger;
  jobs: Jobs;
}

export interface KnowledgeGraphFeature {
  service: KnowledgeGraph;
  /** No change of a project begins an index any more. */
  stop(): void;
}

export function openKnowledgeGraph(deps: OpenKnowledgeGraph): KnowledgeGraphFeature {
  const { store, bus, log, client, placeOf } = deps;
  const graphOf = (projectId: string) => client.project(placeOf(projectId));
  const jobs = createIndexJobs({ store, jobs: deps.jobs, graphOf });
  const service = createKnowledgeGraph({ ...deps, jobs });

  /** A job could write into the folder of a project that is gone. */
  async function forget(projectId: string): Promise<void> {
    await jobs.end(projectId);
    await rm(placeOf(projectId).store, { recursive: true, force: true, maxRetries: 3 });
  }
  const unsubscribe = bus.subscribe([workspaceChanged, projectChanged], ({ kind, project_id, data }) => {
    if (project_id === undefined) return;
    if (kind === "workspace_changed") return jobs.soon(project_id);
    if (data.change === "deleted")
      forget(project_id).catch((err) => log.warn({ err, project: project_id }, "graph of a project not removed"));
  });
  return { service, stop: unsubscribe };
}
