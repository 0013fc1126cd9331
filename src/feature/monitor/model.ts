/** An external monitor, which notices when this server is not well or not there. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

export const Monitor = t.Object({
  set_up: t.Boolean({ description: "Whether PUSH_MONITOR_URL is set. The address itself is never shown." }),
  every_minutes: t.Integer(),
  trouble: orNull(t.String(), { description: "The problem that is reported to the monitor; null if all is well." }),
  last_asked_at: orNull(Time, { description: "When the monitor last answered." }),
  error: orNull(t.String(), {
    description: "Why the last request to the monitor failed; null if the monitor answered.",
  }),
});
export type Monitor = Static<typeof Monitor>;
