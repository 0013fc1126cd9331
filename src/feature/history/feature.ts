/**
 * Deletes history with everything that belongs to it, on request or by age and size, and measures what uses the disk.
 */
import { existsSync, readdirSync } from "node:fs";
import { LABELS } from "../../adapter/sandbox/docker/container-spec.ts";
import { DAY_MS, HOUR_MS } from "../../core/clock.ts";
import { codeOf } from "../../core/errors.ts";
import { selfCommand } from "../../process/self-command.ts";
import { createDiskAsker } from "../../store/disk-worker.ts";
import type { AttachmentService } from "../attachments/service.ts";
import type { EnvironmentCaches } from "../environment-caches/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { projects } from "../projects/feature.ts";
import type { sessions } from "../sessions/feature.ts";
import type { SettingsService } from "../settings/service.ts";
import type { Users } from "../users/service.ts";
import { defineDeletion } from "./deletion.ts";
import { createDiskUsage } from "./disk.ts";
import { diskRoutes } from "./disk-routes.ts";
import { historyEvents } from "./events.ts";
import { createRetention } from "./retention.ts";
import { historyRoutes } from "./routes.ts";
import { createHistoryRows } from "./rows.ts";
import { createHistory } from "./service.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  jobs: Jobs;
  users: Pick<Users, "erase">;
  projects: Pick<ServiceOf<typeof projects>, "workspaces" | "erase">;
  sessions: ServiceOf<typeof sessions>;
  attachments: Pick<AttachmentService, "dropUnheld">;
  environmentCaches: Pick<EnvironmentCaches, "list">;
};

const RETENTION_MS = 60_000;
const SIZES_MS = 600_000;
/** Number of tries to remove a container; with the pauses they take a minute. Then the whole job is tried again. */
const REMOVAL_TRIES = 300;
const REMOVAL_PAUSE_MS = 200;

/**
 * Removes a container and returns once it is gone. A sandbox that its owner ends at the same time still exists for a
 * moment.
 */
async function removeContainer(docker: Core["docker"], id: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await docker?.containers.remove(id, { mustBeGone: true });
    } catch (error) {
      if (codeOf(error) !== "docker_conflict" || tries === REMOVAL_TRIES) throw error;
      await Bun.sleep(REMOVAL_PAUSE_MS);
    }
  }
}

export const history = defineFeature(
  "history",
  (deps: Needs) => {
    const { store, docker, folder, instanceId } = deps;
    const rows = createHistoryRows(store);
    const disk = createDiskAsker(selfCommand("disk-worker"), folder.root);
    const readSettings = () => deps.settings.get().retention;
    const removeOld = (): void => {
      const { runs_days, chats_days } = readSettings();
      if (runs_days !== null) retention.removeOld("runs", deps.clock.now() - runs_days * DAY_MS);
      if (chats_days !== null) retention.removeOld("chats", deps.clock.now() - chats_days * DAY_MS);
    };
    const deletion = defineDeletion({
      ...deps,
      rows,
      removedOld: removeOld,
      endSession: deps.sessions.end,
      erase: deps.projects.workspaces.erase,
      repack: deps.projects.workspaces.repack,
      removeContent: deps.attachments.dropUnheld,
      removeProject: deps.projects.erase,
      removeUser: deps.users.erase,
      earlierBackups: () => (existsSync(folder.backups) ? readdirSync(folder.backups).length : 0),
      async removeContainers(ids) {
        const wanted = new Set(ids);
        for (const { id, labels } of (await docker?.containers.list([`${LABELS.instance}=${instanceId}`])) ?? [])
          if (wanted.has(labels[LABELS.session] ?? "") || wanted.has(labels[LABELS.run] ?? ""))
            await removeContainer(docker, id);
      },
    });
    const service = createHistory({ ...deps, rows, deletion });
    const retention = createRetention({ ...deps, history: service, disk, readSettings });
    const usage = createDiskUsage({ ...deps, disk, caches: deps.environmentCaches.list });
    return {
      service,
      routes: () => [...historyRoutes(service, retention), ...diskRoutes(usage)],
      jobs: [deletion, usage.definition],
      prunes: [{ keep: "transcripts_days", run: retention.removeTranscripts }],
      duties: [
        { name: "old-history", everyMs: RETENTION_MS, run: removeOld },
        { name: "large-history", everyMs: SIZES_MS, run: retention.removeTooLarge },
        { name: "unfinished-deletions", everyMs: HOUR_MS, run: service.resume },
      ],
      resume: async () => service.resume(),
    };
  },
  historyEvents,
);
