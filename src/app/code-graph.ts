/** The code graph as the server runs it: its processes, where projects and runs have their sources. A part of app.ts's map. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { adminFolder } from "../adapter/git/worktree.ts";
import type { Logger } from "../core/log.ts";
import { selfCommand } from "../core/self-command.ts";
import type { Jobs } from "../feature/jobs/service.ts";
import { openKnowledgeGraph } from "../feature/knowledge-graph/open.ts";
import { codeGraphTools } from "../feature/knowledge-graph/tools.ts";
import type { Projects } from "../feature/projects/service.ts";
import { createGraphClient } from "../graph/client.ts";
import type { GraphPlace } from "../graph/session.ts";
import { toolSchemas } from "../graph/tools.ts";
import type { Bus } from "../store/bus.ts";
import type { DataFolder } from "../store/data-folder.ts";
import type { Store } from "../store/store.ts";

export interface CodeGraphDeps {
  store: Store;
  bus: Bus;
  log: Logger;
  jobs: Jobs;
  folder: DataFolder;
  projects: Pick<Projects, "exists" | "get">;
}

export function openCodeGraph({ store, bus, log, jobs, folder, projects }: CodeGraphDeps) {
  const client = createGraphClient({
    command: selfCommand("graph-worker", folder.cache),
    onRestart: (reason) => log.warn({ reason }, "a graph worker ended"),
  });
  const placeOf = (projectId: string): GraphPlace => ({
    root: join(folder.projects, projectId, "workspace"),
    gitDir: join(folder.projects, projectId, "git"),
    store: join(folder.projects, projectId, "graph"),
  });
  const feature = openKnowledgeGraph({
    ...{ store, bus, log, jobs, client, placeOf },
    project: (id) => (projects.exists(id) ? projects.get(id) : undefined),
    runPlaceOf(projectId, runId) {
      const root = join(folder.workspaces, runId);
      const gitDir = adminFolder({ repository: join(folder.projects, projectId, "git"), name: runId, path: root });
      // The graph of a working copy lies in what is removed together with the copy, out of the agent's reach.
      return existsSync(root) && existsSync(gitDir) ? { root, gitDir, store: join(gitDir, "skep-graph") } : undefined;
    },
  });
  return { ...feature, tools: codeGraphTools(toolSchemas(true), feature.service.toolText), close: client.close };
}
