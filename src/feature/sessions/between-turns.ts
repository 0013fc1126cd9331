/**
 * Work of the engine for a session in which no agent works: summaries and titles. It is charged to the session's last
 * execution.
 */
import { conflict, unavailable } from "../../core/errors.ts";
import type { BetweenTurns } from "../../engine/between-turns.ts";
import type { Execution } from "../../engine/execution.ts";
import type { Core } from "../feature.ts";
import { type ExecutionRow, type SessionRow, type SessionStore, toExecution } from "./store.ts";

interface BetweenTurnsDeps extends Pick<Core, "store"> {
  rows: SessionStore;
  /** @throws Problem 404. */
  loadSession(sessionId: string): SessionRow;
}

export function createBetweenTurns({ store, rows, loadSession }: BetweenTurnsDeps) {
  let engine: BetweenTurns | undefined;
  const insertEnded = (session: SessionRow): ExecutionRow =>
    store.write(() => {
      const { id, created_at: at } = rows.insertExecution(session, { input: [], timeout_seconds: 1 });
      rows.updateExecution(id, { status: "succeeded", started_at: at, finished_at: at });
      return rows.findExecution(id)!;
    });
  /**
   * The last execution of a session, which is charged for work between two turns. A forked session has none yet, so it
   * gets one that has ended.
   */
  const loadPayer = (sessionId: string): Execution => {
    const session = loadSession(sessionId);
    const last = rows.latest(session.id) ?? insertEnded(session);
    return toExecution(rows.findWork(last.id)!, last.prompt_id === null ? null : (rows.prompt(last.prompt_id) ?? null));
  };
  const requireEngine = (): BetweenTurns => {
    if (!engine) throw unavailable("engine_stopped", "The engine is not running.");
    return engine;
  };
  return {
    connect(next: BetweenTurns | undefined): void {
      engine = next;
    },
    async compact(sessionId: string, signal: AbortSignal): Promise<void> {
      if (rows.isBusy(loadSession(sessionId).id))
        throw conflict("The agent is at work. Wait for its reply, or stop it first.", "session_busy");
      await requireEngine().compact(loadPayer(sessionId), signal);
    },
    titleFor: async (sessionId: string, signal: AbortSignal) => requireEngine().title(loadPayer(sessionId), signal),
  };
}
