/**
 * Sessions of agents, for the features that start them: open one, queue turns in it, steer or stop it. Everything joins
 * the caller's transaction; what has to happen outside of it happens after its commit.
 */
import { type Clock, timestamp } from "../../core/clock.ts";
import { conflict, notFound } from "../../core/errors.ts";
import { OUTSIDE_SOURCES } from "../../core/outside-table.ts";
import type { BetweenTurns } from "../../engine/between-turns.ts";
import type { CallPurpose, Execution, ExecutionRows, StopRequest } from "../../engine/execution.ts";
import { kindOf, type SessionKind } from "../../engine/kinds.ts";
import type { ModelReply } from "../../engine/model.ts";
import type { InputPart } from "../../engine/parts.ts";
import type { Scheduler } from "../../engine/scheduler.ts";
import type { Store, WriteTx } from "../../store/store.ts";
import { createBetweenTurns } from "./between-turns.ts";
import { sessionStarted } from "./events.ts";
import { createLifecycle, type SessionOwner } from "./lifecycle.ts";
import type { ProviderWait, SessionDraft, TurnDraft } from "./model.ts";
import { createOutsideMarks, type OutsideMarks } from "./outside.ts";
import { createExecutionRows } from "./rows.ts";
import { createSessionStore, type ExecutionRow, type SessionRow, type Work } from "./store.ts";
import { createTranscript, type TranscriptMessage } from "./transcript.ts";
import { createTree } from "./tree.ts";

export type { SessionOwner } from "./lifecycle.ts";
export type { ExecutionRow, SessionRow, Work } from "./store.ts";

interface SessionsDeps {
  store: Store;
  clock: Clock;
  /** Before work begins. @throws Problem 413 `workspaces_full` where files of that user leave no room for more. */
  assertWorkspaces(userId: string | null): void;
  /** Writes the model call's row and event. */
  recordCall(tx: WriteTx, execution: Execution, reply: ModelReply, purpose: CallPurpose): void;
}

export interface Sessions {
  /** The engine's side. */
  rows: ExecutionRows;
  /** Makes a feature the one that follows sessions of that kind. One for each kind. */
  own(kind: SessionKind, owner: SessionOwner): void;
  /** Calls back inside the transaction in which any execution ends. */
  whenFinished(act: (execution: Work, tx: WriteTx) => void): void;
  /**
   * Opens a session. Nothing works in it before a turn is queued. Every start of work passes here or in `queue`, except a
   * run's, whose service asks the same before the run begins.
   * @throws Problem 413 `workspaces_full`; with a parent: 404 unknown, 409 `session_ended`, `too_deep`, `too_many_sessions`,
   * `budget_too_small`.
   */
  open(draft: SessionDraft): SessionRow;
  /**
   * Queues a turn; the engine takes it up when the session is free. Its message has the id `message_id` from now on.
   * @throws Problem 404, 409 `session_ended`, 413 `workspaces_full` where a person leads the session.
   */
  queue(sessionId: string, turn: TurnDraft): ExecutionRow;
  /** Turns that have not started, in the order in which they will. */
  queued(sessionId: string): ExecutionRow[];
  /** How many turns of each of these sessions have never started, where there are any. */
  waitingCounts(sessionIds: readonly string[]): Map<string, number>;
  /** Changes the message of a turn that has not started. @throws Problem 404, 409 `turn_started`. */
  edit(sessionId: string, messageId: string, input: InputPart[]): ExecutionRow;
  /** Takes back a turn that has not started. @throws Problem 404, 409 `turn_started`. */
  withdraw(sessionId: string, messageId: string): void;
  /** Ends the running reply and keeps what was said; the session continues. @returns whether there was one. */
  interrupt(sessionId: string): boolean;
  /** What waits for a provider's quota in that run or session is tried at once. @returns how much did. */
  tryNow(where: { runId: string } | { sessionId: string }): number;
  /** What of that run or session waits for a provider's quota; null: nothing. */
  providerWait(where: { runId: string } | { sessionId: string }): ProviderWait | null;
  /** Ends the session and all below it, within a second; what works in it is cancelled. No-op when it has ended. */
  end(sessionId: string): void;
  /** Ends a session that has no work of its own, with the given status; all below it ends as with `end`. */
  close(sessionId: string, status: "succeeded" | "failed" | "cancelled"): void;
  /**
   * A session that `close` ended takes work again.
   * @throws Problem 404, 409 `session_ended` for one that another started, 413 `workspaces_full`.
   */
  reopen(sessionId: string): void;
  find(id: string): SessionRow | undefined;
  /** Which work has read outside text. */
  readonly outside: OutsideMarks;
  /** What that call of a tool in that session has started. */
  startedBy(sessionId: string, callId: string): SessionRow | undefined;
  execution(id: string): ExecutionRow | undefined;
  /** The execution of a session that was queued last, whether it has started or not. */
  latest(sessionId: string): ExecutionRow | undefined;
  /** The one at work in the session. */
  running(sessionId: string): ExecutionRow | undefined;
  /** Sessions that have not ended, oldest first. */
  live(kinds?: readonly SessionKind[]): SessionRow[];
  /** Executions that are queued or at work. */
  liveExecutions(): ExecutionRow[];
  /** Another agent takes over with the next turn, the queued ones included. */
  change(
    id: string,
    change: Partial<Pick<SessionRow, "title" | "wanted_model" | "project_id" | "task_id" | "agent_id">>,
  ): void;
  /** All its messages, including those summarised or taken back. @param from `seq` of the first. */
  transcript(id: string, from?: number, limit?: number): TranscriptMessage[];
  /**
   * Takes back that message and all after it: people still read them, the model does not.
   * @throws Problem 404, 409 `session_busy`.
   */
  rewind(sessionId: string, messageId: string): void;
  /**
   * Has the model read a summary instead of what was said so far, which stays in the transcript.
   * @throws Problem 404, 409 `session_busy`, `nothing_to_compact`, or what the budget or the provider says.
   */
  compact(sessionId: string, signal: AbortSignal): Promise<void>;
  /** A title by the model for summaries; undefined where there is none. */
  titleFor(sessionId: string, signal: AbortSignal): Promise<string | undefined>;
  /** Begins a session that has no messages with those of another, up to that `seq`. */
  copyTranscript(from: string, last: number, to: string): void;
  /** Connects the engine that works on the rows; it is called after the commit that concerns it. */
  connect(engine: Pick<Scheduler, "wake" | "stopOne">, betweenTurns?: BetweenTurns): void;
}

const TRANSCRIPT_PAGE = 1_000;

export function createSessions({ store, clock, recordCall, assertWorkspaces }: SessionsDeps): Sessions {
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

  const known = (id: string): SessionRow => {
    const row = rows.session(id);
    if (!row) throw notFound("session");
    return row;
  };
  const between = createBetweenTurns({ store, rows, known });
  /** Ends the reply that is under way or waits. @returns whether there is one. */
  function interruptReply(tx: WriteTx, sessionId: string): boolean {
    const running = rows.running(sessionId);
    const begun = running ? undefined : rows.begun(sessionId);
    if (running && running.stop === null) lifecycle.askToStop(tx, running.id, "interrupt");
    if (begun) lifecycle.finish(tx, begun.id, { status: "cancelled", text: "" });
    return running !== undefined || begun !== undefined;
  }
  const waiting = (sessionId: string, messageId: string): ExecutionRow => {
    const row = rows.queued(sessionId).find(({ message_id, started_at }) => message_id === messageId && !started_at);
    if (row) return row;
    if (transcript.message(messageId)?.session_id === known(sessionId).id)
      throw conflict("The agent has read the message already.", "turn_started");
    throw notFound("queued message");
  };

  return {
    tryNow: (where) =>
      store.write(({ after }) => {
        after(() => engine?.wake());
        return rows.endProviderWaits(where);
      }),
    providerWait(where) {
      const found = rows.providerWait(where);
      return found ? { reason: found.reason, until: timestamp(found.until) } : null;
    },
    rows: engineRows,
    own: (kind, owner) => void owners.set(kind, owner),
    whenFinished: (act) => void followers.push(act),
    open: (draft) =>
      store.write((tx) => {
        const row = tree.insert(draft);
        if (draft.continues !== true && kindOf(draft.kind).startedBy !== "run") assertWorkspaces(row.user_id);
        if (kindOf(row.kind).sessionEnds === "person")
          tx.emit(sessionStarted, { ...lifecycle.refsOf(row), data: { kind: row.kind } });
        return row;
      }),
    queue: (sessionId, turn) =>
      store.write((tx) => {
        const session = known(sessionId);
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
        tx.after(() => engine?.wake());
        return row;
      }),
    queued: rows.queued,
    waitingCounts: rows.waitingCounts,
    edit: (sessionId, messageId, input) =>
      store.write(() => {
        const { id } = waiting(sessionId, messageId);
        rows.updateExecution(id, { input });
        return rows.execution(id)!;
      }),
    withdraw: (sessionId, messageId) =>
      store.write(() => {
        rows.removeExecution(waiting(sessionId, messageId).id);
        if (!rows.isBusy(sessionId)) rows.updateSession(sessionId, { status: "open" });
      }),
    interrupt: (sessionId) => store.write((tx) => interruptReply(tx, known(sessionId).id)),
    end: (sessionId) => store.write((tx) => lifecycle.stopSession(tx, known(sessionId).id)),
    close: (sessionId, status) => store.write((tx) => lifecycle.close(tx, known(sessionId).id, status)),
    reopen: (sessionId) =>
      store.write(() => {
        const { id, parent_id, ended_at, user_id } = known(sessionId);
        if (ended_at === null) return;
        if (parent_id !== null)
          throw conflict("An agent started it and has taken its result; start it again instead.", "session_ended");
        assertWorkspaces(user_id);
        rows.updateSession(id, { status: "open", ended_at: null, stopping: false });
      }),
    find: rows.session,
    outside,
    startedBy: rows.startedBy,
    execution: rows.execution,
    latest: rows.latest,
    running: rows.running,
    live: (kinds) => rows.open(kinds),
    liveExecutions: rows.liveExecutions,
    change: (id, change) =>
      store.write(() => {
        rows.updateSession(known(id).id, change);
        const { agent_id } = change;
        if (agent_id !== undefined) for (const queued of rows.queued(id)) rows.updateExecution(queued.id, { agent_id });
      }),
    transcript: (id, from = 0, limit = TRANSCRIPT_PAGE) => transcript.read(id, from, limit),
    rewind: (sessionId, messageId) =>
      store.write(() => {
        const message = transcript.message(messageId);
        if (message?.session_id !== sessionId) throw notFound("message in this session");
        if (rows.isBusy(sessionId)) throw conflict("The agent is at work. Stop its reply first.", "session_busy");
        transcript.withdrawFrom(sessionId, message.seq);
        // Unknown until the next request.
        rows.updateSession(sessionId, { context_tokens: null });
      }),
    copyTranscript: (from, last, to) => store.write(() => transcript.copy(from, last, to)),
    compact: between.compact,
    titleFor: between.titleFor,
    connect(next, betweenTurns) {
      between.connect(betweenTurns);
      engine = next;
    },
  };
}
