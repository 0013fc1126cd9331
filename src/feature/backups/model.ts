/** The backups in the data folder that this server made. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

export const Backup = t.Object({
  id: t.String({ description: "Also the name of its file, with `.tar.gz`." }),
  created_at: t.String({ format: "date-time" }),
  bytes: t.Integer({ description: "Of the file." }),
  scheduled: t.Boolean({ description: "Made by the schedule: `backup.keep_*` say how long it stays." }),
  left_out: orNull(
    t.Array(t.String(), {
      description:
        "Paths in the data folder that it does not hold: links that lead away, files that agents closed; the first 100. Null: not known.",
    }),
  ),
});
export type Backup = Static<typeof Backup>;

export const BackupSchedule = t.Object(
  {
    schedule: orNull(t.String({ description: "The setting `backup.schedule`; null: none is made by itself." })),
    timezone: t.String(),
    folder: t.String({ description: "Where they are written." }),
    next_at: orNull(Time),
    last_success_at: orNull(Time),
    error: orNull(t.Object({ at: Time, code: t.String(), message: t.String() }), {
      description: "Why the last one failed; null once one has succeeded.",
    }),
    overdue: t.Boolean({ description: "One was due over an hour ago, and none has succeeded since." }),
  },
  { title: "BackupSchedule" },
);
export type BackupSchedule = Static<typeof BackupSchedule>;
