/** Values that the dashboard remembers for a person, by name. */
import { type Static, Type as t } from "@sinclair/typebox";

/** Most names of one person. */
export const PREFERENCES_MAX = 100;
/** Most bytes of one value's JSON. */
export const PREFERENCE_BYTES = 16 * 1024;

const Name = t.String({ pattern: "^[a-z][a-z0-9.-]{0,63}$" });
export const Preferences = t.Record(Name, t.Unknown(), {
  title: "Preferences",
  additionalProperties: false,
  description: `Names in lower case (letters, digits, \`.\`, \`-\`), any JSON as value: at most ${PREFERENCES_MAX} names, ${PREFERENCE_BYTES} bytes each.`,
});
export type Preferences = Static<typeof Preferences>;
