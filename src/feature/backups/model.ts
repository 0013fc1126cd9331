/** The backups in the data folder that this server made. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

export const Backup = t.Object({
  id: t.String({ description: "Id of the backup. With `.tar.gz`, it is also the name of the file." }),
  created_at: t.String({ format: "date-time" }),
  bytes: t.Integer({ description: "Size of the backup file in bytes." }),
  scheduled: t.Boolean({
    description:
      "Whether the schedule made the backup. The settings `backup.keep_*` decide how long such backups are kept.",
  }),
  left_out: orNull(
    t.Array(t.String(), {
      description:
        "The first 100 paths in the data folder that the backup lacks: links that lead elsewhere, and files that agents made unreadable. `null` if unknown.",
    }),
  ),
});
export type Backup = Static<typeof Backup>;

export const BackupSchedule = t.Object(
  {
    schedule: orNull(
      t.String({ description: "Value of the setting `backup.schedule`; `null` if no backups are made automatically." }),
    ),
    timezone: t.String(),
    folder: t.String({ description: "Folder to which scheduled backups are written." }),
    next_at: orNull(Time),
    last_success_at: orNull(Time),
    error: orNull(t.Object({ at: Time, code: t.String(), message: t.String() }), {
      description: "Error of the last scheduled backup that failed; `null` once a later one has succeeded.",
    }),
    overdue: t.Boolean({ description: "Whether a backup was due more than an hour ago and none has succeeded since." }),
  },
  { title: "BackupSchedule" },
);
export type BackupSchedule = Static<typeof BackupSchedule>;
