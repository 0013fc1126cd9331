/**
 * Sessions of agents, for the features that start them: open a session, queue turns in it, steer or stop it. Everything
 * joins the caller's transaction; effects outside the database follow its commit.
 */
import { toTimestamp } from "../../core/clock.ts";
import { conflict, expectFound, notFound } from "../../core/errors.ts";
import type { BetweenTurns } from "../../engine/between-turns.ts";
import type { CallPurpose, Execution, StopRequest } from "../../engine/execution.ts";
import { kindOf, type SessionKind } from "../../engine/kinds.ts";
import type { ModelReply } from "../../engine/model.ts";
import type { Scheduler } from "../../engine/scheduler.ts";
import type { WriteTx } from "../../store/store.ts";
import type { Core } from "../feature.ts";
import { createBetweenTurns } from "./between-turns.ts";
import { sessionStarted } from "./events.ts";
import { createLifecycle, type SessionOwner } from "./lifecycle.ts";
import type { ProviderWait, SessionDraft } from "./model.ts";
import { createOutsideMarks } from "./outside.ts";
import { createExecutionRows } from "./rows.ts";
import { createSessionStore, type SessionRow, type Work } from "./store.ts";
import { createTranscript, type TranscriptMessage } from "./transcript.ts";
import { createTree } from "./tree.ts";
import { createTurns } from "./turns.ts";

export type { SessionOwner } from "./lifecycle.ts";
export type { ExecutionRow, SessionRow, Work } from "./store.ts";

interface SessionsDeps extends Pick<Core, "store" | "clock"> {
  /** Called before work begins. @throws Problem 413 `workspaces_full` when that user's files leave no room for more. */
  assertWorkspaces(userId: string | null): void;
  /** Writes the model call's row and event. */
  recordCall(tx: WriteTx, execution: Execution, reply: ModelReply, purpose: CallPurpose): void;
}

export type Sessions = ReturnType<typeof createSessions>;

const TRANSCRIPT_PAGE = 1_000;

export function createSessions({ store, clock, recordCall, assertWorkspaces }: SessionsDeps) {
  const owners = new Map<SessionKind, SessionOwner>();
  let engine: Pick<Scheduler, "wake" | "stopOne"> | undefined;
  const ownerOf = (kind: SessionKind) => owners.get(kind);
  const rows = createSessionStore(store, clock);
  const transcript = createTranscript(store, clock);
  const tree = createTree(store, rows);
  const outside = createOutsideMarks(store);
  const stopNow = (id: string, why: StopRequest) => engine?.stopOne(id, why);
  const followers: ((execution: Work, tx: WriteTx) => void)[] = [];
  const notifyFollowers = (execution: Work, tx: WriteTx) => {
    for (const act of followers) act(execution, tx);
  };
  const lifecycle = createLifecycle({ clock, rows, transcript, tree, ownerOf, notifyFollowers, stopNow });
  const engineRows = createExecutionRows({
    store,
    clock,
    rows,
    transcript,
    tree,
    lifecycle,
    outside,
    ownerOf,
    recordCall,
  });

  const loadSession = (id: string): SessionRow => expectFound(rows.findSession(id), "session");
  const between = createBetweenTurns({ store, rows, loadSession });
  const wake = () => engine?.wake();

  return {
    /**
     * Tries work of that run or session at once that waits for a provider's quota.
     * @returns the number of such executions.
     */
    tryNow: (where: { runId: string } | { sessionId: string }): number =>
      store.write(({ after }) => {
        after(wake);
        return rows.endProviderWaits(where);
      }),
    /** Why and how long work of that run or session waits for a provider's quota; null when none does. */
    providerWait(where: { runId: string } | { sessionId: string }): ProviderWait | null {
      const found = rows.providerWait(where);
      return found ? { reason: found.reason, until: toTimestamp(found.until) } : null;
    },
    /** The part that the engine uses. */
    rows: engineRows,
    /** Registers the feature that follows sessions of that kind. Each kind has one. */
    own: (kind: SessionKind, owner: SessionOwner): void => void owners.set(kind, owner),
    /** Registers a function that is called in the transaction in which any execution ends. */
    whenFinished: (act: (execution: Work, tx: WriteTx) => void): void => void followers.push(act),
    /**
     * Opens a session. No work happens in it before a turn is queued. Every start of work passes here or `queue`,
     * which check whether the owner's workspaces leave room; for runs, the runs' service checks that before the run
     * begins.
     * @throws Problem 413 `workspaces_full`; with a parent: 404 unknown, 409 `session_ended`, `too_deep`,
     * `too_many_sessions`, `budget_too_small`.
     */
    open: (draft: SessionDraft): SessionRow =>
      store.write((tx) => {
        const row = tree.insert(draft);
        if (draft.continues !== true && kindOf(draft.kind).startedBy !== "run") assertWorkspaces(row.user_id);
        if (kindOf(row.kind).sessionEnds === "person")
          tx.emit(sessionStarted, { ...lifecycle.refsOf(row), data: { kind: row.kind } });
        return row;
      }),
    ...createTurns({ store, rows, transcript, lifecycle, outside, loadSession, assertWorkspaces, wake }),
    /**
     * Ends the session and all sessions below it within a second; their work is cancelled. Does nothing when the
     * session has ended.
     */
    end: (sessionId: string): void => store.write((tx) => lifecycle.stopSession(tx, loadSession(sessionId).id)),
    /** Ends a session that has no work of its own, with the given status. All sessions below it end as with `end`. */
    close: (sessionId: string, status: "succeeded" | "failed" | "cancelled"): void =>
      store.write((tx) => lifecycle.close(tx, loadSession(sessionId).id, status)),
    /**
     * Opens a session again that `close` ended, so that it takes work.
     * @throws Problem 404, 409 `session_ended` for a session that another one started, 413 `workspaces_full`.
     */
    reopen: (sessionId: string): void =>
      store.write(() => {
        const { id, parent_id, ended_at, user_id } = loadSession(sessionId);
        if (ended_at === null) return;
        if (parent_id !== null)
          throw conflict("An agent started it and has taken its result; start it again instead.", "session_ended");
        assertWorkspaces(user_id);
        rows.updateSession(id, { status: "open", ended_at: null, stopping: false });
      }),
    find: rows.findSession,
    /** Records which work has read outside text. */
    outside,
    /** The session that this tool call in that session has started. */
    startedBy: rows.startedBy,
    execution: rows.findExecution,
    /** The execution of a session that was queued last, whether or not it has started. */
    latest: rows.latest,
    /** The execution that runs in the session. */
    running: rows.running,
    /** Sessions that have not ended, oldest first. */
    live: (kinds?: readonly SessionKind[]): SessionRow[] => rows.open(kinds),
    /** Executions that are queued or at work. */
    liveExecutions: rows.liveExecutions,
    /** Changes a session. A new agent takes over with the next turn, including turns that are queued. */
    change: (
      id: string,
      change: Partial<Pick<SessionRow, "title" | "wanted_model" | "project_id" | "task_id" | "agent_id">>,
    ): void =>
      store.write(() => {
        rows.updateSession(loadSession(id).id, change);
        const { agent_id } = change;
        if (agent_id !== undefined)
          for (const queued of rows.listQueued(id)) rows.updateExecution(queued.id, { agent_id });
      }),
    /**
     * All messages of the session, including those that were summarized or taken back.
     * @param from `seq` of the first.
     */
    transcript: (id: string, from = 0, limit = TRANSCRIPT_PAGE): TranscriptMessage[] =>
      transcript.read(id, from, limit),
    /**
     * Takes back that message and all later ones: people can still read them, the model no longer does.
     * @throws Problem 404, 409 `session_busy`.
     */
    rewind: (sessionId: string, messageId: string): void =>
      store.write(() => {
        const message = transcript.message(messageId);
        if (message?.session_id !== sessionId) throw notFound("message in this session");
        if (rows.isBusy(sessionId)) throw conflict("The agent is at work. Stop its reply first.", "session_busy");
        transcript.withdrawFrom(sessionId, message.seq);
        // The size of the context is unknown until the next request.
        rows.updateSession(sessionId, { context_tokens: null });
      }),
    /** Copies another session's messages up to that `seq` into a session that has none. */
    copyTranscript: (from: string, last: number, to: string): void =>
      store.write(() => transcript.copy(from, last, to)),
    /**
     * Lets the model read a summary instead of the earlier messages, which stay in the transcript.
     * @throws Problem 404, 409 `session_busy`, `nothing_to_compact`, or the budget's or provider's problem.
     */
    compact: between.compact,
    /** A title by the model for summaries; undefined when there is no such model. */
    titleFor: between.titleFor,
    /** Connects the engine that works on the rows. It is called after each commit that concerns it. */
    connect(next: Pick<Scheduler, "wake" | "stopOne">, betweenTurns?: BetweenTurns): void {
      between.connect(betweenTurns);
      engine = next;
    },
  };
}
