/** /v1/admin/backups. */

import { Type as t } from "@sinclair/typebox";
import { answerArchive, describeFile } from "../../http/file-answer.ts";
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Job } from "../jobs/model.ts";
import { Backup, BackupSchedule } from "./model.ts";
import type { BackupClock } from "./schedule.ts";
import type { Backups } from "./service.ts";

const BackupPath = t.Object({ id: t.String({ maxLength: 64 }) });

export function backupRoutes(backups: Backups, schedule: Pick<BackupClock, "readStatus">) {
  return tagOperations("admin", [
    defineOperation("listBackups", "GET /v1/admin/backups", {
      access: "admin",
      ...pagesOf(Backup),
      summary: "List the backups that this server made, newest first",
      handler: ({ query }) => backups.list(pageOf(query)),
    }),
    defineOperation("backups", "POST /v1/admin/backups", {
      access: "admin",
      answer: { 202: Job },
      summary: "Make a backup, without the keys that open its secrets, as a background job",
      handler: ({ caller, answer }) => answer.accepted("/v1/jobs/:id", () => backups.start(caller)),
    }),
    defineOperation("getBackupSchedule", "GET /v1/admin/backup-schedule", {
      access: "admin",
      answer: BackupSchedule,
      summary: "Get the backup schedule and the result of the last scheduled backup",
      handler: schedule.readStatus,
    }),
    defineOperation("getBackup", "GET /v1/admin/backups/:id", {
      access: "admin",
      params: BackupPath,
      answer: Backup,
      summary: "Get a backup",
      handler: ({ params }) => backups.get(params.id),
    }),
    defineOperation("getBackupContent", "GET /v1/admin/backups/:id/content", {
      access: "admin",
      params: BackupPath,
      summary: "Download a backup, for `skep restore`",
      documented: { responses: { 200: describeFile("application/gzip", "The backup as a gzipped tar archive.") } },
      handler: ({ params, caller }) => answerArchive(Bun.file(backups.download(params.id, caller)), params.id),
    }),
    defineOperation("deleteBackup", "DELETE /v1/admin/backups/:id", {
      access: "admin",
      params: BackupPath,
      answer: 204,
      summary: "Delete a backup",
      handler: ({ params, caller }) => backups.remove(params.id, caller),
    }),
  ]);
}
