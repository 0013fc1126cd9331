/** Ends executions and sessions: when their work ends, or when somebody stops them and everything that they started. */
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { executionRefs } from "../../core/events.ts";
import type { Ending, Execution, StopRequest, StoredCall } from "../../engine/execution.ts";
import { kindOf } from "../../engine/kinds.ts";
import type { WriteTx } from "../../store/store.ts";
import { sessionEnded, toolCallEnd, turnEnded } from "./events.ts";
import type { SessionRow, SessionStore, Work } from "./store.ts";
import { toExecution } from "./store.ts";
import type { Transcript } from "./transcript.ts";
import type { Tree } from "./tree.ts";

/**
 * Callbacks of a feature that starts sessions of a kind. They run in the same transaction, so that nothing is lost in
 * between.
 */
export interface SessionOwner {
  onExecutionStart?(work: Work, tx: WriteTx): void;
  /** Called when cost and tokens have grown. */
  onReply?(work: Work, tx: WriteTx): void;
  /** An execution has ended; it may queue the next one. */
  onExecutionEnd?(work: Work, ending: Ending, tx: WriteTx): void;
  /**
   * The session has ended. If the work's end ends the session, this follows `onExecutionEnd`, unless the work never began.
   */
  onSessionEnd?(session: SessionRow, tx: WriteTx): void;
}

interface LifecycleDeps {
  clock: Clock;
  rows: SessionStore;
  transcript: Transcript;
  tree: Tree;
  ownerOf(kind: SessionRow["kind"]): SessionOwner | undefined;
  /** Followers of executions of every kind. */
  notifyFollowers(execution: Work, tx: WriteTx): void;
  /** Ends the model call and the tool process of a running execution. Called after the commit. */
  stopNow(executionId: string, why: StopRequest): void;
}

export type Lifecycle = ReturnType<typeof createLifecycle>;

const refsOf = (session: SessionRow) => ({
  run_id: session.run_id ?? undefined,
  step_id: session.step_id ?? undefined,
  session_id: session.id,
  agent_id: session.agent_id || undefined,
  project_id: session.project_id ?? undefined,
  user_id: session.user_id ?? undefined,
});

const STOPPED = "Stopped before it ended. It may have happened in part; look before you repeat it.";
const NOT_BEGUN = "Stopped before it began. Nothing of it has happened.";

export function createLifecycle({ clock, rows, transcript, tree, ownerOf, notifyFollowers, stopNow }: LifecycleDeps) {
  const readNow = () => toTimestamp(clock.now());

  function interruptCall(tx: WriteTx, execution: Execution, call: StoredCall, output: string): void {
    transcript.updateCall(execution.sessionId, call, {
      status: "interrupted",
      ok: false,
      output,
      finished_at: readNow(),
    });
    for (const child of tree.below(execution.sessionId)) if (child.call_id === call.callId) stopSession(tx, child.id);
    // A call that never started needs no event of its end.
    if (call.status !== "running") return;
    const about = { call_id: call.callId, execution_id: execution.id, tool: call.tool };
    const data = { ...about, ok: false, duration_ms: 0, output, interrupted: true };
    tx.emit(toolCallEnd, { ...executionRefs(execution), data });
  }

  function endSession(tx: WriteTx, session: SessionRow, status: "succeeded" | "failed" | "cancelled" | "ended"): void {
    rows.updateSession(session.id, { status, ended_at: readNow(), last_activity_at: readNow() });
    tree.giveBack(rows.findSession(session.id)!);
    for (const child of tree.below(session.id)) stopSession(tx, child.id);
  }

  function finish(tx: WriteTx, id: string, ending: Ending): void {
    const before = rows.findWork(id);
    if (!before || before.finished_at !== null) return;
    const execution = toExecution(before, null);
    for (const call of transcript.openCalls(before.session_id, id))
      interruptCall(tx, execution, call, call.status === "running" ? STOPPED : NOT_BEGUN);
    const error = ending.status === "failed" ? ending.error : null;
    rows.updateExecution(id, {
      status: ending.status,
      outputs: ending.status === "cancelled" ? {} : (ending.outputs ?? {}),
      ended_by: (ending.status === "succeeded" && ending.by) || null,
      text: ending.text || transcript.lastWords(before.session_id, id),
      error,
      finished_at: readNow(),
      lease_owner: null,
    });
    notifyFollowers(before, tx);
    const refs = executionRefs(execution);
    const outcome = { status: ending.status, ...(error ? { error } : {}) };
    if (kindOf(before.session.kind).sessionEnds === "work") {
      // Messages that should have steered the work came too late and are dropped.
      for (const late of rows.listQueued(before.session_id)) rows.removeExecution(late.id);
      endSession(tx, before.session, ending.status);
      tx.emit(sessionEnded, { ...refs, data: outcome });
    } else {
      const turn = { execution_id: id, message_id: before.message_id };
      tx.emit(turnEnded, { ...refs, data: { ...turn, ...outcome } });
      settleTurns(tx, before.session_id);
    }
    const after = rows.findWork(id)!;
    ownerOf(after.session.kind)?.onExecutionEnd?.(after, ending, tx);
    const session = rows.findSession(after.session_id)!;
    if (session.ended_at !== null) ownerOf(session.kind)?.onSessionEnd?.(session, tx);
  }

  /** After a turn: queues the session for the next turn, lets it wait for a message, or closes it if it is stopping. */
  function settleTurns(tx: WriteTx, id: string): void {
    const session = rows.findSession(id)!;
    if (session.ended_at !== null || rows.running(id)) return;
    const queued = rows.listQueued(id).length > 0;
    if (!session.stopping)
      return rows.updateSession(id, { status: queued ? "queued" : "open", last_activity_at: readNow() });
    if (queued) return;
    endSession(tx, session, "ended");
    tx.emit(sessionEnded, { ...refsOf(session), data: { status: "ended" } });
  }

  /** Stops a session and all sessions below it: queued work immediately, running work within a second. */
  function stopSession(tx: WriteTx, id: string): void {
    const session = rows.findSession(id);
    if (!session || session.ended_at !== null || session.stopping) return;
    rows.updateSession(id, { stopping: true });
    for (const child of tree.below(id)) stopSession(tx, child.id);
    const running = rows.running(id);
    for (const queued of rows.listQueued(id)) finish(tx, queued.id, { status: "cancelled", text: "" });
    if (running) return askToStop(tx, running.id, "cancel");
    const left = rows.findSession(id)!;
    if (left.ended_at !== null) return;
    const status = kindOf(session.kind).sessionEnds === "work" ? "cancelled" : "ended";
    endSession(tx, left, status);
    tx.emit(sessionEnded, { ...refsOf(left), data: { status } });
    ownerOf(left.kind)?.onSessionEnd?.(rows.findSession(id)!, tx);
  }

  /**
   * Ends a session that has no work of its own, with the status that its feature gives. All sessions below it end as
   * well.
   */
  function close(tx: WriteTx, id: string, status: "succeeded" | "failed" | "cancelled"): void {
    const session = rows.findSession(id);
    if (!session || session.ended_at !== null) return;
    endSession(tx, session, status);
    tx.emit(sessionEnded, { ...refsOf(session), data: { status } });
  }

  function askToStop(tx: WriteTx, executionId: string, why: StopRequest): void {
    rows.updateExecution(executionId, { stop: why });
    tx.after(() => stopNow(executionId, why));
  }

  return { finish, stopSession, close, askToStop, interruptCall, refsOf };
}
