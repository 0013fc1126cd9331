/** Preferences: each person's own, read and written by name. */
import { and, eq, sql } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import { invalidField } from "../../core/errors.ts";
import type { Caller } from "../../http/caller.ts";
import type { Store } from "../../store/store.ts";
import { preferences as table } from "../../store/tables/preferences.ts";
import { asSql, readable, WHOSE } from "../../store/whose.ts";
import { PREFERENCE_BYTES, PREFERENCES_MAX, type Preferences } from "./model.ts";

export interface PreferencesDeps {
  store: Store;
  clock: Clock;
}

export interface PreferencesService {
  /** The caller's own. */
  get(caller: Caller): Preferences;
  /** Sets the names that are sent; null removes one. @throws Problem 422 for a value that is too large, or too many. */
  update(changes: Preferences, caller: Caller): Preferences;
}

export function createPreferences({ store, clock }: PreferencesDeps): PreferencesService {
  const { db } = store;
  const mine = (caller: Caller) => asSql(readable(caller, WHOSE.preferences));
  const get = (caller: Caller): Preferences => {
    const rows = db.select().from(table).where(mine(caller)).orderBy(table.name).all();
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  };
  return {
    get,
    update(changes, caller) {
      for (const [name, value] of Object.entries(changes))
        if (Buffer.byteLength(JSON.stringify(value)) > PREFERENCE_BYTES)
          throw invalidField(name, `Holds at most ${PREFERENCE_BYTES} bytes of JSON`);
      return store.write(() => {
        for (const [name, value] of Object.entries(changes)) {
          db.delete(table)
            .where(and(mine(caller), eq(table.name, name)))
            .run();
          if (value === null) continue;
          const row = { user_id: caller.userId ?? null, name, value, updated_at: timestamp(clock.now()) };
          db.insert(table).values(row).run();
        }
        const count = db.select({ count: sql<number>`count(*)` }).from(table).where(mine(caller)).get()?.count ?? 0;
        if (count > PREFERENCES_MAX)
          throw invalidField("", `At most ${PREFERENCES_MAX} names are kept: set one that is not needed to null`);
        return get(caller);
      });
    },
  };
}
