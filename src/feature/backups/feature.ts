/** Backups made by the server, in its data folder. `skep backup` writes the same files elsewhere. */
import { selfCommand } from "../../process/self-command.ts";
import { createBackupWriter } from "../../store/backup-worker.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import { backupRoutes } from "./routes.ts";
import { createBackups } from "./service.ts";

type Needs = Core & { jobs: Pick<Jobs, "enqueue"> };

export const backups = defineFeature("backups", (deps: Needs) => {
  const { folder } = deps;
  const service = createBackups({
    ...deps,
    folder: folder.backups,
    write: createBackupWriter(selfCommand("backup-worker"), folder.root),
  });
  // Before any job begins: nothing is being written yet.
  service.sweep();
  return {
    routes: () => backupRoutes(service),
    jobs: [service.definition],
    prunes: [{ keep: "backups_days", run: service.prune }],
  };
});
