/** Turns of sessions: queues them, changes or takes back waiting ones, and interrupts the running reply. */
import { conflict, notFound } from "../../core/errors.ts";
import { OUTSIDE_SOURCES } from "../../core/outside-table.ts";
import { kindOf } from "../../engine/kinds.ts";
import type { InputPart } from "../../engine/parts.ts";
import type { Store, WriteTx } from "../../store/store.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { TurnDraft } from "./model.ts";
import type { OutsideMarks } from "./outside.ts";
import type { ExecutionRow, SessionRow, SessionStore } from "./store.ts";
import type { Transcript } from "./transcript.ts";

interface TurnsDeps {
  store: Store;
  rows: SessionStore;
  transcript: Transcript;
  lifecycle: Lifecycle;
  outside: OutsideMarks;
  /** @throws Problem 404. */
  loadSession(sessionId: string): SessionRow;
  /** @throws Problem 413 `workspaces_full`. */
  assertWorkspaces(userId: string | null): void;
  /** Asks the engine to look for work. */
  wake(): void;
}

export function createTurns(deps: TurnsDeps) {
  const { store, rows, transcript, lifecycle, outside, loadSession, assertWorkspaces, wake } = deps;
  /** Ends the reply that runs, or that has begun and waits. @returns whether there was one. */
  function interruptReply(tx: WriteTx, sessionId: string): boolean {
    const running = rows.running(sessionId);
    const begun = running ? undefined : rows.findBegun(sessionId);
    if (running && running.stop === null) lifecycle.askToStop(tx, running.id, "interrupt");
    if (begun) lifecycle.finish(tx, begun.id, { status: "cancelled", text: "" });
    return running !== undefined || begun !== undefined;
  }
  const loadQueued = (sessionId: string, messageId: string): ExecutionRow => {
    const row = rows
      .listQueued(sessionId)
      .find(({ message_id, started_at }) => message_id === messageId && !started_at);
    if (row) return row;
    if (transcript.message(messageId)?.session_id === loadSession(sessionId).id)
      throw conflict("The agent has read the message already.", "turn_started");
    throw notFound("queued message");
  };

  return {
    /**
     * Queues a turn. The engine takes it when the session is free; its message already has its final id `message_id`.
     * @throws Problem 404, 409 `session_ended`, 413 `workspaces_full` when a person leads the session.
     */
    queue: (sessionId: string, turn: TurnDraft): ExecutionRow =>
      store.write((tx) => {
        const session = loadSession(sessionId);
        const over = session.ended_at !== null && kindOf(session.kind).sessionEnds === "person";
        if (over || session.stopping) throw conflict("The session has ended.", "session_ended");
        if (turn.continues !== true && kindOf(session.kind).sessionEnds === "person") assertWorkspaces(session.user_id);
        const running = rows.running(sessionId);
        const row = rows.insertExecution(session, turn);
        if (row.input.some(({ type }) => type !== "text")) outside.mark({ sessionId }, OUTSIDE_SOURCES.attachment);
        if (turn.mode === "interrupt") interruptReply(tx, sessionId);
        rows.updateSession(sessionId, {
          status: running ? "running" : "queued",
          ended_at: null,
          last_activity_at: row.created_at,
          execution_count: session.execution_count + 1,
        });
        tx.after(wake);
        return row;
      }),
    /** Turns that have not started, in the order in which they will start. */
    listQueued: rows.listQueued,
    /** Number of turns that have never started, for each of these sessions that has any. */
    waitingCounts: rows.waitingCounts,
    /** Changes the message of a turn that has not started. @throws Problem 404, 409 `turn_started`. */
    edit: (sessionId: string, messageId: string, input: InputPart[]): ExecutionRow =>
      store.write(() => {
        const { id } = loadQueued(sessionId, messageId);
        rows.updateExecution(id, { input });
        return rows.findExecution(id)!;
      }),
    /** Takes back a turn that has not started. @throws Problem 404, 409 `turn_started`. */
    withdraw: (sessionId: string, messageId: string): void =>
      store.write(() => {
        rows.removeExecution(loadQueued(sessionId, messageId).id);
        if (!rows.isBusy(sessionId)) rows.updateSession(sessionId, { status: "open" });
      }),
    /** Ends the running reply and keeps its text; the session continues. @returns whether there was a reply. */
    interrupt: (sessionId: string): boolean => store.write((tx) => interruptReply(tx, loadSession(sessionId).id)),
  };
}
