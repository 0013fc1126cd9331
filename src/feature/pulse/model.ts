/** Routines of agents as the API shows them: what they do, when, and with what result. */
import { type Static, Type as t } from "@sinclair/typebox";
import { DAY_SECONDS } from "../../core/clock.ts";
import { DAYS } from "../../core/schedule.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";

const Id = t.String({ minLength: 1, maxLength: 64 });
const Clock = t.String({
  pattern: "^([01]\\d|2[0-3]):[0-5]\\d$",
  description: "Time of day as HH:MM, in the routine's time zone.",
});

const Blackout = t.Object({
  start: Clock,
  end: t.String({
    pattern: "^([01]\\d|2[0-3]):[0-5]\\d$",
    description: "Time of day at which the blackout ends; on the next day if it is not after `start`.",
  }),
  days: t.Optional(
    t.Array(oneOf(...DAYS), {
      minItems: 1,
      maxItems: 7,
      uniqueItems: true,
      description: "Weekdays on which the blackout begins; every day if absent.",
    }),
  ),
});

const Schedule = t.Union([
  t.String({
    minLength: 1,
    maxLength: 100,
    description: "Cron expression: minute, hour, day of the month, month, day of the week.",
  }),
  t.Object(
    {
      every_minutes: t.Integer({ minimum: 1, maximum: 44_640 }),
      offset_minutes: t.Optional(t.Integer({ minimum: 0, maximum: 44_639 })),
    },
    { description: "Fixed interval, counted from 1970-01-01T00:00Z." },
  ),
]);

const fields = {
  name: t.String({ minLength: 1, maxLength: 100, pattern: "\\S" }),
  instructions: t.String({ minLength: 1, maxLength: 20_000, pattern: "\\S" }),
  schedule: Schedule,
};
const choices = {
  description: t.Optional(orNull(t.String({ maxLength: 1_000 }))),
  project_id: t.Optional(orNull(Id)),
  timezone: t.Optional(
    t.String({ pattern: "^[A-Za-z][A-Za-z0-9_+/-]{0,63}$", description: "Time zone of the schedule; default UTC." }),
  ),
  blackouts: t.Optional(t.Array(Blackout, { maxItems: 20, description: "Times at which the routine does not run." })),
  enabled: t.Optional(t.Boolean()),
  max_concurrent: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: 8,
      description: "Most ticks that may run at once; default 1. Further ticks are skipped.",
    }),
  ),
  timeout_seconds: t.Optional(
    orNull(
      t.Integer({ minimum: 1, maximum: DAY_SECONDS, description: "Time limit of a tick; null applies the agent's." }),
    ),
  ),
  model: t.Optional(orNull(t.String({ minLength: 3, maxLength: 256 }))),
  tools: t.Optional(
    orNull(
      t.Array(t.String({ minLength: 1, maxLength: 128 }), {
        maxItems: 200,
        uniqueItems: true,
        description: "Names of the agent's tools that the routine may use; null allows all of them.",
      }),
    ),
  ),
};

export const RoutineCreate = t.Object({ ...fields, ...choices });
export type RoutineCreate = Static<typeof RoutineCreate>;
export const RoutineUpdate = t.Partial(RoutineCreate);
export type RoutineUpdate = Static<typeof RoutineUpdate>;

/** A schedule whose next times are previewed before it is saved. */
export const SchedulePreviewBody = t.Object({
  schedule: Schedule,
  timezone: choices.timezone,
  blackouts: choices.blackouts,
});
export type SchedulePreviewBody = Static<typeof SchedulePreviewBody>;

export const SchedulePreview = t.Object({
  times: t.Array(
    t.Object({
      at: Time,
      blackout: t.Boolean({ description: "Whether a blackout covers this time, so that the routine would not run." }),
    }),
    { description: "The next ten times, earliest first." },
  ),
});
export type SchedulePreview = Static<typeof SchedulePreview>;

export const Reason = t.Object({ code: t.String(), message: t.String() });
export type Reason = Static<typeof Reason>;

export const PulseRoutine = t.Object({
  id: t.String(),
  agent_id: t.String(),
  user_id: orNull(t.String({ description: "The user for whom the routine works." })),
  project_id: orNull(t.String()),
  ...fields,
  description: orNull(t.String()),
  timezone: t.String(),
  blackouts: t.Array(Blackout),
  enabled: t.Boolean(),
  max_concurrent: t.Integer(),
  timeout_seconds: orNull(t.Integer()),
  model: orNull(t.String()),
  tools: orNull(t.Array(t.String())),
  runs: t.Integer({ description: "How often the routine ran." }),
  last_run_at: orNull(Time),
  next_run_at: orNull(t.String({ format: "date-time", description: "Time of the next tick outside the blackouts." })),
  blocked: orNull(
    t.Object({ code: t.String(), message: t.String() }, { description: "What keeps the routine from running now." }),
  ),
  created_at: Time,
  updated_at: Time,
});
export type PulseRoutine = Static<typeof PulseRoutine>;

const TickStatus = oneOf("queued", "running", "succeeded", "failed", "cancelled", "missed", "skipped");

export const PulseTick = t.Object({
  id: t.String(),
  routine_id: t.String(),
  agent_id: t.String(),
  due_at: Time,
  cause: oneOf("schedule", "manual"),
  caught_up: t.Boolean({ description: "Whether the tick ran late because the server had not been running." }),
  status: TickStatus,
  reason: orNull(
    t.Object(
      { code: t.String(), message: t.String() },
      { description: "Why the tick was skipped, was missed or failed." },
    ),
  ),
  summary: orNull(t.String({ description: "Report of the agent." })),
  session_id: orNull(t.String()),
  created_at: Time,
  started_at: orNull(Time),
  finished_at: orNull(Time),
});
export type PulseTick = Static<typeof PulseTick>;

export const TimelineTick = t.Object({
  at: Time,
  routine_id: t.String(),
  name: t.String(),
  status: oneOf("queued", "running", "succeeded", "failed", "cancelled", "missed", "skipped", "planned", "blackout"),
  tick_id: orNull(t.String({ description: "Id of the tick; null for a time in the future." })),
  session_id: orNull(t.String()),
  reason: orNull(Reason),
  summary: orNull(t.String()),
});
export type TimelineTick = Static<typeof TimelineTick>;
