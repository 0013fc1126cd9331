/** An external monitor, which notices when this server is not well or not there. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

export const Monitor = t.Object({
  set_up: t.Boolean({ description: "Whether PUSH_MONITOR_URL is set. The address itself is never shown." }),
  every_minutes: t.Integer(),
  trouble: orNull(t.String(), { description: "What the monitor is told; null: all is well." }),
  last_asked_at: orNull(Time, { description: "When it last answered." }),
  error: orNull(t.String(), { description: "Of the last request; null: it was answered." }),
});
export type Monitor = Static<typeof Monitor>;
