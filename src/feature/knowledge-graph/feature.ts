/**
 * The code graph of projects: wires up its worker process, the folders of projects and runs, and reactions to changes
 * of projects.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { adminFolder } from "../../adapter/git/worktree.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Asker, ProjectRoles } from "../../core/ownership.ts";
import type { ExecutionInfo } from "../../engine/tool.ts";
import { putScip, removeExactReferences } from "../../graph/scip/exact-references.ts";
import { setUpPath } from "../../graph/scip/set-up.ts";
import { createGraphClient } from "../../graph/serve/client.ts";
import { createFreshAnswers } from "../../graph/serve/fresh-answers.ts";
import type { GraphPlace } from "../../graph/serve/session.ts";
import { toolSchemas } from "../../graph/serve/tools.ts";
import { createGraphStore } from "../../graph/store/graph-store.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import type { Page } from "../../http/list.ts";
import { selfCommand } from "../../process/self-command.ts";
import type { DataFolder } from "../../store/data-folder.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import { projectChanged, workspaceChanged } from "../projects/events.ts";
import type { Project } from "../projects/model.ts";
import { knowledgeGraphEvents } from "./events.ts";
import { createIndexJobs } from "./index-jobs.ts";
import { knowledgeGraphRoutes } from "./routes.ts";
import { createKnowledgeGraph } from "./service.ts";
import { codeGraphTools } from "./tools.ts";
import { findUnread } from "./unread-finding.ts";

type Needs = Core & {
  jobs: Jobs;
  projects: {
    find(id: string): Project | undefined;
    list(filter: object, page: Page, asker: Asker): { items: Project[] };
  };
};

export const knowledgeGraph = defineFeature(
  "knowledgeGraph",
  (deps: Needs) => {
    const { store, bus, log, folder, projects } = deps;
    const client = createGraphClient({
      command: selfCommand("graph-worker", folder.cache),
      onRestart: (reason) => log.warn({ reason }, "a graph worker ended"),
    });
    const places = placesIn(folder);
    const scipOf = (id: string) => projects.find(id)?.scip_path ?? undefined;
    const jobs = createIndexJobs({
      store,
      jobs: deps.jobs,
      scipOf,
      graphOf: (id) => client.project(places.placeOf(id)),
      nameOf: (id) => projects.find(id)?.name ?? id,
    });
    const newest: Page = { limit: LIMITS.listMax, after: null };
    const hasIndex = (id: string) => existsSync(join(places.placeOf(id).store, "manifest.json"));
    const versionOf = (id: string): string | undefined => {
      const known = hasIndex(id) ? createGraphStore(places.placeOf(id).store).readManifest() : undefined;
      return known && `${known.commit || "files"}.${known.generation}`;
    };
    const listIndexed = (asker: Asker) =>
      projects.list({}, newest, asker).items.flatMap(({ id }) => (hasIndex(id) ? [id] : []));
    const service = createKnowledgeGraph({
      client,
      fresh: createFreshAnswers(client),
      jobs,
      project: projects.find,
      listIndexed,
      versionOf,
      scipOf,
      ...places,
      keepScip: (id, path) => putScip(places.placeOf(id).store, path),
      dropScip: (id) => removeExactReferences(places.placeOf(id).store),
    });

    /**
     * Removes a deleted project's graph. Its index job is ended first, because it could write into the removed folder.
     */
    async function forget(projectId: string): Promise<void> {
      await jobs.end(projectId);
      await rm(places.placeOf(projectId).store, { recursive: true, force: true, maxRetries: 3 });
    }
    const unsubscribe = bus.subscribe([workspaceChanged, projectChanged], ({ kind, project_id, data }) => {
      if (project_id === undefined) return;
      if (kind === "workspace_changed") return jobs.soon(project_id);
      if (
        data.change === "updated" &&
        hasIndex(project_id) &&
        setUpPath(places.placeOf(project_id).store) !== scipOf(project_id)
      )
        return jobs.soon(project_id);
      if (data.change === "deleted")
        forget(project_id).catch((err) => log.warn({ err, project: project_id }, "graph of a project not removed"));
    });
    return {
      service,
      routes: () => knowledgeGraphRoutes(service),
      tools: codeGraphTools(toolSchemas(true), (execution, ...asked) =>
        service.toolText({ ...execution, asker: askerOf(execution, deps.access) }, ...asked),
      ),
      jobs: [jobs.definition],
      checks: () => [
        findUnread(listIndexed(LOCAL_ADMIN), (id) => createGraphStore(places.placeOf(id).store).readManifest()?.unread),
      ],
      stop: unsubscribe,
      // Called after the job runner has ended the index jobs.
      close: client.close,
    };
  },
  knowledgeGraphEvents,
);

/** An execution asks with the rights of its user, but never with those of an administrator. */
const askerOf = ({ userId, projectId }: ExecutionInfo, projects: ProjectRoles): Asker => ({
  admin: false,
  userId,
  projects,
  execution: { userId, projectId },
});

/** Folders of the sources and graphs, for projects and for working copies. */
function placesIn(folder: DataFolder) {
  return {
    placeOf: (projectId: string): GraphPlace => ({
      root: join(folder.projects, projectId, "workspace"),
      gitDir: join(folder.projects, projectId, "git"),
      store: join(folder.projects, projectId, "graph"),
    }),
    copyPlaceOf(projectId: string, workId: string): GraphPlace | undefined {
      const root = join(folder.workspaces, workId);
      const gitDir = adminFolder({ repository: join(folder.projects, projectId, "git"), name: workId, path: root });
      // The graph lies in the working copy's git directory: it is removed together with the copy, and agents cannot
      // reach it.
      return existsSync(root) && existsSync(gitDir) ? { root, gitDir, store: join(gitDir, "skep-graph") } : undefined;
    },
  };
}
