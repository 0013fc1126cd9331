/** What agents have done and are doing, as the API shows it. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import type { SessionKind } from "../../engine/kinds.ts";

/**
 * The kinds of events on the timeline. The conditions of the indexes `events_timeline…` name them, so each change needs
 * a migration that makes these indexes again.
 */
export const TIMELINE_KINDS = [
  "session_started",
  "session_ended",
  "turn_ended",
  "step_complete",
  "step_failed",
  "activity",
  "pulse_complete",
  "pulse_failed",
] as const;
export const TimelineKind = oneOf(...TIMELINE_KINDS);

export const TimelineItem = t.Object({
  id: t.Integer({ description: "Of the event." }),
  at: Time,
  agent_id: t.String(),
  kind: TimelineKind,
  title: t.String({ description: "A line for people." }),
  run_id: t.Optional(t.String()),
  step_id: t.Optional(t.String({ description: "Id of the step in the pipeline." })),
  step_name: t.Optional(t.String({ description: "What people call the step." })),
  session_id: t.Optional(t.String()),
  session_kind: t.Optional(t.Unsafe<SessionKind>(t.String({ description: "`pipeline`, `chat`, `pulse`, …" }))),
  session_title: t.Optional(t.String({ description: "Of a chat, or a piece of work." })),
  run_title: t.Optional(t.String({ description: "The first line of the run's task." })),
  project_id: t.Optional(t.String()),
  project_name: t.Optional(t.String()),
  task_id: t.Optional(t.String({ description: "Task of a board that it was done for." })),
  task_title: t.Optional(t.String()),
  data: t.Record(t.String(), t.Unknown()),
});
export type TimelineItem = Static<typeof TimelineItem>;

export const LiveSession = t.Object({
  id: t.String(),
  agent_id: orNull(t.String({ description: "Null: a command in nobody's sandbox." })),
  kind: t.Unsafe<SessionKind>(t.String({ description: "`pipeline`, `chat`, `pulse`, `swarm`, `spawn`, …" })),
  title: orNull(t.String({ description: "Its own, or the first line of the task of its run." })),
  status: oneOf("open", "queued", "running"),
  run_id: orNull(t.String()),
  project_id: orNull(t.String()),
  started_at: Time,
  last_activity_at: Time,
  container_id: orNull(t.String({ description: "Container that it works in now." })),
});
export type LiveSession = Static<typeof LiveSession>;

/** A stretch of an agent's work. */
export const AgentSpan = t.Object({
  execution_id: t.String(),
  agent_id: t.String(),
  session_id: t.String(),
  kind: t.Unsafe<SessionKind>(t.String({ description: "As of the session." })),
  title: orNull(t.String({ description: "The first line of the run's task, or the chat's title." })),
  run_id: orNull(t.String()),
  step_id: orNull(t.String({ description: "Id of the step in the pipeline." })),
  step_name: t.Optional(t.String({ description: "What people call the step." })),
  status: oneOf("running", "succeeded", "failed", "cancelled"),
  started_at: Time,
  finished_at: orNull(Time, { description: "Null: it is at work." }),
});
export type AgentSpan = Static<typeof AgentSpan>;
export const AgentDay = t.Object(
  {
    from: Time,
    to: Time,
    items: t.Array(AgentSpan, { description: "In the order in which they began." }),
    cut: t.Boolean({ description: "There were more: the latest are given." }),
  },
  { title: "AgentDay" },
);
export type AgentDay = Static<typeof AgentDay>;
