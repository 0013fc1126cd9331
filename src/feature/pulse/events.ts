/** Events of routines. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf, Time } from "../../core/schema.ts";

const tick = {
  routine_id: t.String(),
  tick_id: t.String(),
  name: t.String({ description: "Name of the routine." }),
};

const ROUTINES = ["/v1/pulse-routines", "/v1/lifecycle/timeline"];

export const pulseStarted = defineEvent(
  "pulse_started",
  t.Object(
    { ...tick, due_at: Time, caught_up: t.Boolean(), cause: oneOf("schedule", "manual") },
    { description: "A routine of an agent started." },
  ),
  { stale: ROUTINES },
);
export const pulseComplete = defineEvent(
  "pulse_complete",
  t.Object(
    { ...tick, summary: t.String({ description: "Beginning of the agent's report." }) },
    { description: "A routine's work succeeded." },
  ),
  { stale: ROUTINES },
);
export const pulseFailed = defineEvent(
  "pulse_failed",
  t.Object(
    { ...tick, status: oneOf("failed", "cancelled"), reason: t.String() },
    { description: "A routine's work failed or was cancelled." },
  ),
  { stale: ROUTINES },
);
export const pulseSkipped = defineEvent(
  "pulse_skipped",
  t.Object(
    {
      ...tick,
      due_at: Time,
      code: t.String({
        description: "Why the routine did not run: `blackout`, `still_running`, `budget` or another code.",
      }),
      reason: t.String(),
    },
    { description: "A routine was due but did not run." },
  ),
  { stale: ROUTINES },
);
export const pulseRoutineChanged = defineEvent(
  "pulse_routine_changed",
  t.Object(
    { routine_id: t.String(), name: t.String(), change: oneOf("created", "updated", "stopped", "deleted") },
    { description: "A routine was created, changed, stopped by the server, or deleted." },
  ),
  { stale: ROUTINES },
);

export const pulseEvents = [pulseStarted, pulseComplete, pulseFailed, pulseSkipped, pulseRoutineChanged] as const;
