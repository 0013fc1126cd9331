/**
 * Identifies this instance. Its id marks everything that it starts outside its folder: containers, networks, processes.
 * Two servers with the same id would remove each other's. So a copy of a data folder gets its own id and stands by
 * until an administrator activates it. The original may still be running, and both would act on the same routines,
 * webhooks and runs.
 *
 * A folder recognizes itself by the file numbers (inodes) of its root and its database. They survive renaming the
 * folder and restarting the machine, but differ in copies made by `cp`, `rsync` or an archive. A clone of a whole disk
 * keeps them; only what `skep restore` wrote is always recognized as a copy.
 */
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Clock, toTimestamp } from "../core/clock.ts";
import { type Problem, unavailable } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { shortDatabase } from "./short-database.ts";
import type { Store } from "./store.ts";

const INSTANCE = "instance_id";
const PLACE = "data_folder";
const STANDBY = "standby_since";

const SELECT = "SELECT value FROM facts WHERE name = ?";
const KEEP = "INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
const DROP = "DELETE FROM facts WHERE name = ?";

/** The inodes of the folder and of its database; undefined when the database is not a file. */
function placeOf(database: string): string | undefined {
  const file = statSync(database, { throwIfNoEntry: false, bigint: true });
  return file && `${statSync(dirname(database), { bigint: true }).ino}.${file.ino}`;
}

export type Standby = ReturnType<typeof createStandby>;

interface Identity {
  instanceId: string;
  standby: Standby;
}

/** Reads the instance's id, and detects a copy. Call it before anything is done outside the folder. */
export function identify(store: Store, clock: Clock): Identity {
  const read = (name: string): string | undefined => store.statement<{ value: string }>(SELECT).get(name)?.value;
  const keep = (name: string, value: string): void => void store.statement(KEEP).run(name, value);
  const instanceId = store.write(() => {
    const [known, before, place] = [read(INSTANCE), read(PLACE), placeOf(store.sqlite.name)];
    const isCopy = before !== undefined && place !== undefined && before !== place;
    if (place !== undefined && before !== place) keep(PLACE, place);
    if (isCopy) keep(STANDBY, toTimestamp(clock.now()));
    if (known !== undefined && !isCopy) return known;
    const made = newId("instance");
    keep(INSTANCE, made);
    return made;
  });
  return {
    instanceId,
    standby: createStandby(
      () => read(STANDBY) ?? null,
      () => forget(store),
    ),
  };
}

const forget = (store: Store): void => store.write(() => void store.statement(DROP).run(STANDBY));

function createStandby(read: () => string | null, end: () => void) {
  const waiting = new Set<() => void>();
  let since = read();
  return {
    /** Since when this instance is a copy that has not been activated; null when it is active. */
    since: (): string | null => since,
    /** Runs `act` now, or once the instance is activated. @returns a function that cancels it. */
    whenActive(act: () => void): () => void {
      if (since === null) act();
      else waiting.add(act);
      return () => void waiting.delete(act);
    },
    /** @returns false when the instance was already active. */
    activate(): boolean {
      if (since === null) return false;
      end();
      since = null;
      for (const act of waiting) act();
      waiting.clear();
      return true;
    },
  };
}

/**
 * Marks a folder that was just restored, before any server works on it.
 * @param isActive whether it replaces the original immediately; else it stands by.
 */
export function markRestored(data: string, { isActive }: { isActive: boolean }): void {
  using db = shortDatabase(join(data, "skep.db"), { fileMustExist: true });
  db.transaction(() => {
    db.prepare(KEEP).run(INSTANCE, newId("instance"));
    db.prepare(DROP).run(PLACE);
    if (isActive) db.prepare(DROP).run(STANDBY);
    else db.prepare(KEEP).run(STANDBY, toTimestamp(Date.now()));
  })();
}

/** The answer to requests that the original server may also answer. */
export const standbyProblem = (): Problem =>
  unavailable(
    "standby",
    "This server works on a copy of another's data, and stands by. Activate it with: skep activate",
  );
