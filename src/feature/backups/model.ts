/** Backups that this server made, as they are in the data folder. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull } from "../../core/schema.ts";

export const Backup = t.Object({
  id: t.String({ description: "Also the name of its file, with `.tar.gz`." }),
  created_at: t.String({ format: "date-time" }),
  bytes: t.Integer({ description: "Of the file." }),
  left_out: orNull(
    t.Array(t.String(), {
      description:
        "Paths in the data folder that it does not hold: links that lead away, files that agents closed; the first 100. Null: not known.",
    }),
  ),
});
export type Backup = Static<typeof Backup>;
