/**
 * Sessions of agents, for the features that start them: open one, queue turns in it, steer or stop it. Everything joins
 * the caller's transaction; what has to happen outside of it happens after its commit.
 */
import { timestamp } from "../../core/clock.ts";
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
  /** Before work begins. @throws Problem 413 `workspaces_full` where files of that user leave no room for more. */
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
  const finished = (execution: Work, tx: WriteTx) => {
    for (const act of followers) act(execution, tx);
  };
  const lifecycle = createLifecycle({ clock, rows, transcript, tree, ownerOf, finished, stopNow });
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

  const known = (id: string): SessionRow => expectFound(rows.session(id), "session");
  const between = createBetweenTurns({ store, rows, known });
  const wake = () => engine?.wake();

  return {
    /** What waits for a provider's quota in that run or session is tried at once. @returns how much did. */
    tryNow: (where: { runId: string } | { sessionId: string }): number =>
      store.write(({ after }) => {
        after(wake);
        return rows.endProviderWaits(where);
      }),
    /** What of that run or session waits for a provider's quota; null: nothing. */
    providerWait(where: { runId: string } | { sessionId: string }): ProviderWait | null {
      const found = rows.providerWait(where);
      return found ? { reason: found.reason, until: timestamp(found.until) } : null;
    },
    /** The engine's side. */
    rows: engineRows,
    /** Makes a feature the one that follows sessions of that kind. One for each kind. */
    own: (kind: SessionKind, owner: SessionOwner): void => void owners.set(kind, owner),
    /** Calls back inside the transaction in which any execution ends. */
    whenFinished: (act: (execution: Work, tx: WriteTx) => void): void => void followers.push(act),
    /**
     * Opens a session. Nothing works in it before a turn is queued. Every start of work passes here or in `queue`, except a
     * run's, whose service asks the same before the run begins.
     * @throws Problem 413 `workspaces_full`; with a parent: 404 unknown, 409 `session_ended`, `too_deep`, `too_many_sessions`,
     * `budget_too_small`.
     */
    open: (draft: SessionDraft): SessionRow =>
      store.write((tx) => {
        const row = tree.insert(draft);
        if (draft.continues !== true && kindOf(draft.kind).startedBy !== "run") assertWorkspaces(row.user_id);
        if (kindOf(row.kind).sessionEnds === "person")
          tx.emit(sessionStarted, { ...lifecycle.refsOf(row), data: { kind: row.kind } });
        return row;
      }),
    ...createTurns({ store, rows, transcript, lifecycle, outside, known, assertWorkspaces, wake }),
    /** Ends the session and all below it, within a second; what works in it is cancelled. No-op when it has ended. */
    end: (sessionId: string): void => store.write((tx) => lifecycle.stopSession(tx, known(sessionId).id)),
    /** Ends a session that has no work of its own, with the given status; all below it ends as with `end`. */
    close: (sessionId: string, status: "succeeded" | "failed" | "cancelled"): void =>
      store.write((tx) => lifecycle.close(tx, known(sessionId).id, status)),
    /**
     * A session that `close` ended takes work again.
     * @throws Problem 404, 409 `session_ended` for one that another started, 413 `workspaces_full`.
     */
    reopen: (sessionId: string): void =>
      store.write(() => {
        const { id, parent_id, ended_at, user_id } = known(sessionId);
        if (ended_at === null) return;
        if (parent_id !== null)
          throw conflict("An agent started it and has taken its result; start it again instead.", "session_ended");
        assertWorkspaces(user_id);
        rows.updateSession(id, { status: "open", ended_at: null, stopping: false });
      }),
    find: rows.session,
    /** Which work has read outside text. */
    outside,
    /** What that call of a tool in that session has started. */
    startedBy: rows.startedBy,
    execution: rows.execution,
    /** The execution of a session that was queued last, whether it has started or not. */
    latest: rows.latest,
    /** The one at work in the session. */
    running: rows.running,
    /** Sessions that have not ended, oldest first. */
    live: (kinds?: readonly SessionKind[]): SessionRow[] => rows.open(kinds),
    /** Executions that are queued or at work. */
    liveExecutions: rows.liveExecutions,
    /** Another agent takes over with the next turn, the queued ones included. */
    change: (
      id: string,
      change: Partial<Pick<SessionRow, "title" | "wanted_model" | "project_id" | "task_id" | "agent_id">>,
    ): void =>
      store.write(() => {
        rows.updateSession(known(id).id, change);
        const { agent_id } = change;
        if (agent_id !== undefined) for (const queued of rows.queued(id)) rows.updateExecution(queued.id, { agent_id });
      }),
    /** All its messages, including those summarised or taken back. @param from `seq` of the first. */
    transcript: (id: string, from = 0, limit = TRANSCRIPT_PAGE): TranscriptMessage[] =>
      transcript.read(id, from, limit),
    /**
     * Takes back that message and all after it: people still read them, the model does not.
     * @throws Problem 404, 409 `session_busy`.
     */
    rewind: (sessionId: string, messageId: string): void =>
      store.write(() => {
        const message = transcript.message(messageId);
        if (message?.session_id !== sessionId) throw notFound("message in this session");
        if (rows.isBusy(sessionId)) throw conflict("The agent is at work. Stop its reply first.", "session_busy");
        transcript.withdrawFrom(sessionId, message.seq);
        // Unknown until the next request.
        rows.updateSession(sessionId, { context_tokens: null });
      }),
    /** Begins a session that has no messages with those of another, up to that `seq`. */
    copyTranscript: (from: string, last: number, to: string): void =>
      store.write(() => transcript.copy(from, last, to)),
    /**
     * Has the model read a summary instead of what was said so far, which stays in the transcript.
     * @throws Problem 404, 409 `session_busy`, `nothing_to_compact`, or what the budget or the provider says.
     */
    compact: between.compact,
    /** A title by the model for summaries; undefined where there is none. */
    titleFor: between.titleFor,
    /** Connects the engine that works on the rows; it is called after the commit that concerns it. */
    connect(next: Pick<Scheduler, "wake" | "stopOne">, betweenTurns?: BetweenTurns): void {
      between.connect(betweenTurns);
      engine = next;
    },
  };
}
