/**
 * The database of a new instance, with every migration applied. Migrating an empty one takes a sixth of a first start,
 * so it is created only once: for the executable by the build, which replaces this module (`scripts/new-database.ts`);
 * when run from source, by the first store of a process. Tests open many.
 */
import { memoize } from "../core/lazy.ts";
import { migrate } from "./migrate.ts";
import { shortDatabase } from "./short-database.ts";

/** The database's bytes. Whoever writes them to a file must set the times at which its migrations were applied. */
export const newDatabase = memoize((): Buffer => {
  using db = shortDatabase(":memory:");
  db.pragma("auto_vacuum = INCREMENTAL");
  migrate(db, null);
  return db.serialize();
});
