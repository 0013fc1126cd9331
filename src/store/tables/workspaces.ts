/** Sizes of the folders of runs and chats. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const workspaceSizes = sqliteTable("workspace_sizes", {
  /** Name of the folder: the id of a run or a session. */
  name: text().primaryKey(),
  /** The user it belongs to; null: nobody. */
  user_id: text(),
  files: integer().notNull(),
  bytes: integer().notNull(),
  measured_at: text().notNull(),
});
