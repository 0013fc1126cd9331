/** Container engines that agents work on. */
import { sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Hosts of `DOCKER_HOSTS` that get no new work until they are enabled again. */
export const drainedHosts = sqliteTable("drained_hosts", {
  name: text().primaryKey(),
  drained_at: text().notNull(),
});
