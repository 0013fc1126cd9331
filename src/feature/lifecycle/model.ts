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
  id: t.Integer({ description: "Id of the event." }),
  at: Time,
  agent_id: t.String(),
  kind: TimelineKind,
  title: t.String({ description: "One line of text for people." }),
  run_id: t.Optional(t.String()),
  step_id: t.Optional(t.String({ description: "Id of the step in the pipeline." })),
  step_name: t.Optional(t.String({ description: "Name of the step for people." })),
  session_id: t.Optional(t.String()),
  session_kind: t.Optional(
    t.Unsafe<SessionKind>(t.String({ description: "Kind of the session, such as `pipeline`, `chat` or `pulse`." })),
  ),
  session_title: t.Optional(t.String({ description: "Title of the chat or piece of work." })),
  run_title: t.Optional(t.String({ description: "The first line of the run's task." })),
  project_id: t.Optional(t.String()),
  project_name: t.Optional(t.String()),
  task_id: t.Optional(t.String({ description: "Task on a board for which the work was done." })),
  task_title: t.Optional(t.String()),
  data: t.Record(t.String(), t.Unknown()),
});
export type TimelineItem = Static<typeof TimelineItem>;

export const LiveSession = t.Object({
  id: t.String(),
  agent_id: orNull(
    t.String({ description: "Agent that the session belongs to; `null` for a command in a sandbox without an agent." }),
  ),
  kind: t.Unsafe<SessionKind>(
    t.String({ description: "Kind of the session, such as `pipeline`, `chat`, `pulse`, `swarm` or `spawn`." }),
  ),
  title: orNull(t.String({ description: "Title of the session, or the first line of the task of its run." })),
  status: oneOf("open", "queued", "running"),
  run_id: orNull(t.String()),
  project_id: orNull(t.String()),
  started_at: Time,
  last_activity_at: Time,
  container_id: orNull(t.String({ description: "Container in which the session works now." })),
});
export type LiveSession = Static<typeof LiveSession>;

/** A stretch of an agent's work. */
export const AgentSpan = t.Object({
  execution_id: t.String(),
  agent_id: t.String(),
  session_id: t.String(),
  kind: t.Unsafe<SessionKind>(t.String({ description: "Kind of the session, such as `pipeline`, `chat` or `pulse`." })),
  title: orNull(t.String({ description: "The first line of the run's task, or the chat's title." })),
  run_id: orNull(t.String()),
  step_id: orNull(t.String({ description: "Id of the step in the pipeline." })),
  step_name: t.Optional(t.String({ description: "Name of the step for people." })),
  status: oneOf("running", "succeeded", "failed", "cancelled"),
  started_at: Time,
  finished_at: orNull(Time, { description: "End of the work; `null` while the agent is at work." }),
});
export type AgentSpan = Static<typeof AgentSpan>;
export const AgentDay = t.Object(
  {
    from: Time,
    to: Time,
    items: t.Array(AgentSpan, { description: "Spans of work, in the order in which they began." }),
    cut: t.Boolean({ description: "Whether there were more spans. Only the latest are returned then." }),
  },
  { title: "AgentDay" },
);
export type AgentDay = Static<typeof AgentDay>;
