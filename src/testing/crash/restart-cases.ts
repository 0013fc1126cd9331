/**
 * What a server may leave unfinished: every column with a state, with each of its values, and every kind of background
 * job. A new value or kind does not compile, or makes the matrix fail, until it has a case here.
 */
import { newId } from "../../core/ids.ts";
import type { JOB_STATES } from "../../core/jobs.ts";
import type { RUN_STATUSES, STEP_STATUSES } from "../../core/run-states.ts";
import type { attachments } from "../../store/tables/attachments.ts";
import type { codehostDeliveries, codehostRuns } from "../../store/tables/codehost.ts";
import type { documents } from "../../store/tables/documents.ts";
import type { ATTEMPT_STATES, EVAL_STATUSES } from "../../store/tables/evals.ts";
import type { notificationDeliveries } from "../../store/tables/notification-channels.ts";
import type { onboardings } from "../../store/tables/onboarding.ts";
import type { PermissionState } from "../../store/tables/permissions.ts";
import type { WorkspaceState } from "../../store/tables/projects.ts";
import type { TickStatus } from "../../store/tables/pulses.ts";
import type { ExecutionStatus, SessionStatus, toolCalls } from "../../store/tables/sessions.ts";
import type { projectSetups } from "../../store/tables/setups.ts";
import type { SwarmStatus, SwarmTaskStatus } from "../../store/tables/swarms.ts";

/**
 * `open`: exists when the server stops, and is continued after the start. `passing`: like `open`, but lasts only for a
 * transaction or a moment, so the matrix cannot hold it; the kill campaigns hit it. `end`: nothing is left to do.
 */
type Case = "open" | "passing" | "end";
type Words<Status extends string> = Readonly<Record<Status, Case>>;

const ENDS = { succeeded: "end", failed: "end", cancelled: "end" } as const;

/** Cases by `table.column`. */
export const STATES = {
  "runs.status": { queued: "open", running: "open", waiting: "open", ...ENDS } satisfies Words<
    (typeof RUN_STATUSES)[number]
  >,
  "steps.status": {
    pending: "open",
    queued: "open",
    running: "open",
    waiting: "open",
    skipped: "end",
    ...ENDS,
  } satisfies Words<(typeof STEP_STATUSES)[number]>,
  "jobs.state": { queued: "open", running: "open", ...ENDS } satisfies Words<(typeof JOB_STATES)[number]>,
  "sessions.status": {
    open: "open",
    queued: "open",
    running: "open",
    ended: "end",
    ...ENDS,
  } satisfies Words<SessionStatus>,
  "executions.status": { queued: "open", running: "open", ...ENDS } satisfies Words<ExecutionStatus>,
  "tool_calls.status": {
    requested: "passing",
    running: "open",
    done: "end",
    interrupted: "end",
  } satisfies Words<typeof toolCalls.$inferSelect.status>,
  "permission_requests.state": {
    waiting: "open",
    allowed: "end",
    denied: "end",
    expired: "end",
    withdrawn: "end",
  } satisfies Words<PermissionState>,
  "evals.status": { running: "open", done: "end", cancelled: "end" } satisfies Words<(typeof EVAL_STATUSES)[number]>,
  "eval_attempts.status": {
    queued: "open",
    running: "open",
    passed: "end",
    failed: "end",
    error: "end",
    cancelled: "end",
    skipped: "end",
  } satisfies Words<(typeof ATTEMPT_STATES)[number]>,
  "swarms.status": { running: "open", ...ENDS } satisfies Words<SwarmStatus>,
  "swarm_tasks.status": {
    pending: "open",
    ready: "open",
    running: "open",
    skipped: "end",
    ...ENDS,
  } satisfies Words<SwarmTaskStatus>,
  "pulse_ticks.status": {
    queued: "open",
    running: "open",
    missed: "end",
    skipped: "end",
    ...ENDS,
  } satisfies Words<TickStatus>,
  "onboardings.status": { active: "open", completed: "end", abandoned: "end" } satisfies Words<
    typeof onboardings.$inferSelect.status
  >,
  "projects.workspace_state": {
    none: "end",
    cloning: "open",
    ready: "end",
    failed: "end",
  } satisfies Words<WorkspaceState>,
  "project_setups.state": { ready: "end", failed: "end" } satisfies Words<typeof projectSetups.$inferSelect.state>,
  "attachments.status": { processing: "open", ready: "end", failed: "end" } satisfies Words<
    typeof attachments.$inferSelect.status
  >,
  "documents.status": { processing: "open", ready: "end", failed: "end" } satisfies Words<
    typeof documents.$inferSelect.status
  >,
  "codehost_deliveries.state": { queued: "open", done: "end", ignored: "end", failed: "end" } satisfies Words<
    typeof codehostDeliveries.$inferSelect.state
  >,
  "codehost_runs.state": { pending: "open", done: "end", failed: "end" } satisfies Words<
    typeof codehostRuns.$inferSelect.state
  >,
  "codehost_runs.pull_state": { open: "open", merged: "end", closed: "end" } satisfies Words<
    NonNullable<typeof codehostRuns.$inferSelect.pull_state>
  >,
  "notification_deliveries.state": { queued: "open", sent: "end", failed: "end", cancelled: "end" } satisfies Words<
    typeof notificationDeliveries.$inferSelect.state
  >,
  // Boards define their own statuses. These are the ones through which runs move tasks.
  "tasks.status": { in_progress: "open", review: "open", ready: "end", done: "end", failed: "end" },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Case>>>>;

/** Columns named like a state that contain something else. */
export const NO_STATES: readonly string[] = [
  "idempotency.status",
  "api_usage.status", // of HTTP
  "task_history.from_status",
  "task_history.to_status", // of the past
  "projects.status", // set by people
];

/** Ids of objects in the data folder that jobs work on. */
export interface Places {
  project: string;
  run: string;
  session: string;
  attachment: string;
  document: string;
  delivery: string;
  notice: string;
  channel: string;
}

/** A payload for every kind of job. */
export const JOB_PAYLOADS: Readonly<Record<string, (at: Places) => object>> = {
  backup: () => ({ id: "skep-20260101-000000" }),
  index: ({ project }) => ({ project_id: project, force: false, cause: "request" }),
  pull_image: () => ({ image: "nowhere.invalid/image:1" }),
  fetch_project: ({ project }) => ({ project_id: project }),
  set_up_project: ({ project }) => ({ project_id: project, again: false }),
  clone: ({ project }) => ({ project_id: project }),
  import_tasks: ({ project }) => ({ project_id: project, tasks: [] }),
  notify: ({ notice, channel }) => ({ delivery_id: notice, channel_id: channel }),
  notify_outcome: ({ channel }) => ({ question_id: newId("notificationQuestion"), channel_id: channel }),
  merge_run: ({ run, project }) => ({
    work_id: run,
    project_id: project,
    strategy: "merge",
    into: null,
    message: "m",
    push: false,
    task: false,
    actor: "local",
    address: null,
  }),
  delete_history: () => ({ deletion_id: newId("deletion") }),
  measure_disk: () => ({}),
  compact_chat: ({ session }) => ({ session_id: session }),
  title_chat: ({ session }) => ({ session_id: session, instead_of: "another title" }),
  copy_chat_files: ({ session }) => ({ from: session, to: session }),
  read_attachment: ({ attachment }) => ({ attachment_id: attachment, owner: "" }),
  codehost_delivery: ({ delivery }) => ({ delivery_id: delivery }),
  codehost_sync: ({ run }) => ({ run_id: run }),
  ingest_document: ({ document }) => ({ document_id: document, owner: "", hint: "text/plain" }),
  consolidate_memory: () => ({ vault: "scribe", user_id: null, all: true }),
  embed_memory: () => ({}),
  try_model: () => ({ model: "nobody/model", needle: false }),
};

/** Kinds of jobs that a restart ends: they cost money, so a person has to start them again. */
export const JOBS_NOT_TAKEN_UP: readonly string[] = ["try_model"];
