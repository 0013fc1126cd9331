/**
 * What can happen, and how it is delivered. An event is a row of the durable log; subscribers hear of it after the
 * transaction that wrote it has committed. Events tell, they never decide.
 */

/** `must`: never dropped for a slow subscriber (it is cut off instead). `lossy`: may be dropped, and is counted. */
export type Delivery = "must" | "lossy";

export const EVENT_KINDS = {
  run_created: "must",
  run_complete: "must",
  run_failed: "must",
  run_cancelled: "must",
  run_waiting: "must",
  run_restarted: "must",
  step_queued: "must",
  step_started: "must",
  step_complete: "must",
  step_failed: "must",
  step_skipped: "must",
  step_retrying: "must",
  approval_requested: "must",
  approval_resolved: "must",
  agent_output: "lossy",
  agent_thinking: "lossy",
  tool_call_start: "must",
  tool_call_end: "must",
  swarm_task_started: "must",
  swarm_task_complete: "must",
  swarm_task_failed: "must",
  swarm_complete: "must",
  llm_call: "must",
  activity: "must",
  session_started: "must",
  session_ended: "must",
  task_changed: "must",
  project_changed: "must",
  workspace_changed: "must",
  index_progress: "lossy",
  index_complete: "must",
  memory_written: "must",
  job_progress: "lossy",
  notification: "must",
  budget_warning: "must",
  budget_exceeded: "must",
} as const satisfies Record<string, Delivery>;

export type EventKind = keyof typeof EVENT_KINDS;

/** What an event is about: the columns that streams filter on and that decide who may read it. */
export interface EventRefs {
  run_id?: string | undefined;
  step_id?: string | undefined;
  session_id?: string | undefined;
  agent_id?: string | undefined;
  swarm_id?: string | undefined;
  project_id?: string | undefined;
  /** Owner; events without one are readable by every user. */
  user_id?: string | undefined;
}

export interface EventDraft extends EventRefs {
  kind: EventKind;
  data: Record<string, unknown>;
}

export interface SkepEvent extends EventDraft {
  /** Position in the log: strictly growing, without gap. */
  id: number;
  /** RFC 3339, UTC, milliseconds. */
  at: string;
}

/** Owner of events for administrators alone: streams show an event to its owner and to them; this is nobody's id. */
export const ADMINISTRATORS = "administrators";

export const isEventKind = (text: string): text is EventKind => Object.hasOwn(EVENT_KINDS, text);

/** The kinds after which a run has ended. */
export const RUN_END_KINDS: readonly EventKind[] = ["run_complete", "run_failed", "run_cancelled"];

/** The references of an execution's events. */
export const executionRefs = (execution: {
  id: string;
  agentId: string;
  runId?: string | undefined;
  stepId?: string | undefined;
  projectId?: string | undefined;
  userId?: string | undefined;
}): EventRefs => ({
  run_id: execution.runId,
  step_id: execution.stepId,
  session_id: execution.id,
  agent_id: execution.agentId,
  project_id: execution.projectId,
  user_id: execution.userId,
});
