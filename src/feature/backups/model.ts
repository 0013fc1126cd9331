/** Backups that this server made, as they are in the data folder. */
import { type Static, Type as t } from "@sinclair/typebox";

export const Backup = t.Object({
  id: t.String({ description: "Also the name of its file, with `.tar.gz`." }),
  created_at: t.String({ format: "date-time" }),
  bytes: t.Integer({ description: "Of the file." }),
});
export type Backup = Static<typeof Backup>;
