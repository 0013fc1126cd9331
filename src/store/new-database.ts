/**
 * The database of a new instance, with every migration. To run them on an empty one takes a sixth of a first start, so it is
 * made once: by the build for the executable, in which this module is another one (scripts/new-database.ts); run from the
 * sources, by the first store of a process. Tests open many.
 */
import { lazy } from "../core/lazy.ts";
import { migrate } from "./migrate.ts";
import { shortDatabase } from "./short-database.ts";

/** Its bytes. Whoever writes them to a file sets the times at which its migrations were applied. */
export const newDatabase = lazy((): Buffer => {
  using db = shortDatabase(":memory:");
  db.pragma("auto_vacuum = INCREMENTAL");
  migrate(db, null);
  return db.serialize();
});
