/** Backups that the server makes on request and on a schedule. `skep backup` writes the same kind of file elsewhere. */
import { selfCommand } from "../../process/self-command.ts";
import { wrongBackupFolder } from "../../store/backup-folder.ts";
import { createBackupWriter } from "../../store/backup-worker.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { Notifications } from "../notifications/service.ts";
import type { SettingsService } from "../settings/service.ts";
import { backupRoutes } from "./routes.ts";
import { createBackupClock } from "./schedule.ts";
import { createBackups } from "./service.ts";

type Needs = Core & {
  jobs: Pick<Jobs, "enqueue">;
  settings: Pick<SettingsService, "get">;
  notifications: Notifications;
};

const LOOK_MS = 30_000;

export const backups = defineFeature("backups", (deps: Needs) => {
  const { folder, metrics } = deps;
  const readSettings = () => deps.settings.get().backup;
  const scheduledFolder = () => readSettings().folder ?? folder.backups;
  const service = createBackups({
    ...deps,
    folder: folder.backups,
    scheduledFolder,
    wrongFolder() {
      const path = readSettings().folder;
      return path === null ? undefined : wrongBackupFolder(path, folder.root);
    },
    keepRule: readSettings,
    onScheduledEnd: (job) => schedule.recordEnd(job),
    write: createBackupWriter(selfCommand("backup-worker"), folder.root),
  });
  const schedule = createBackupClock({ ...deps, readSettings, folder: scheduledFolder, start: service.startScheduled });
  // Runs before any job begins, so no backup is being written yet.
  service.sweep();
  metrics.gauge(
    "backup_last_success_timestamp_seconds",
    "When the last good scheduled backup was begun, seconds since 1970.",
    schedule.lastSuccessSeconds,
  );
  metrics.gauge("backup_age_seconds", "Age of the last good scheduled backup.", schedule.ageSeconds);
  metrics.gauge("backup_failing", "1: the last scheduled backup failed, or one is overdue.", schedule.isFailing);
  return {
    service: { isFailing: () => schedule.isFailing() === 1 },
    routes: () => backupRoutes(service, schedule),
    jobs: [service.definition],
    checks: () => [schedule.finding()],
    duties: [{ name: "scheduled-backup", everyMs: LOOK_MS, run: schedule.look }],
    prunes: [{ keep: "backups_days", run: service.prune }],
  };
});
