/** Preferences: each person's own, read and written by name. */
import { toTimestamp } from "../../core/clock.ts";
import { invalidField } from "../../core/errors.ts";
import type { Caller } from "../../http/caller.ts";
import { preferences as table } from "../../store/tables/preferences.ts";
import { buildReadCondition, WHOSE } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import { PREFERENCE_BYTES, PREFERENCES_MAX, type Preferences } from "./model.ts";

type PreferencesDeps = Pick<Core, "store" | "clock">;

export type PreferencesService = ReturnType<typeof createPreferences>;

export function createPreferences({ store, clock }: PreferencesDeps) {
  const rows = store.rows(table);
  const restrictTo = (caller: Caller) => buildReadCondition(caller, WHOSE.preferences);
  const get = (caller: Caller): Preferences => {
    const all = rows.list([restrictTo(caller)], { order: "name" });
    return Object.fromEntries(all.map(({ name, value }) => [name, value]));
  };
  return {
    /** The caller's preferences. */
    get,
    /**
     * Sets the given names; null removes a name.
     * @throws Problem 422 for a value that is too large, or too many names.
     */
    update(changes: Preferences, caller: Caller): Preferences {
      for (const [name, value] of Object.entries(changes))
        if (Buffer.byteLength(JSON.stringify(value)) > PREFERENCE_BYTES)
          throw invalidField(name, `Holds at most ${PREFERENCE_BYTES} bytes of JSON`);
      return store.write(() => {
        for (const [name, value] of Object.entries(changes)) {
          rows.remove({ name }, restrictTo(caller));
          if (value === null) continue;
          rows.insert({ user_id: caller.userId ?? null, name, value, updated_at: toTimestamp(clock.now()) });
        }
        if (rows.count(restrictTo(caller)) > PREFERENCES_MAX)
          throw invalidField("", `At most ${PREFERENCES_MAX} names are kept: set one that is not needed to null`);
        return get(caller);
      });
    },
  };
}
