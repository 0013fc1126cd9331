/** Executions as the engine drives them: each step is one transaction with its event. */
import { type Clock, timestamp } from "../../core/clock.ts";
import { executionRefs } from "../../core/events.ts";
import { newId } from "../../core/ids.ts";
import { toNano } from "../../core/money.ts";
import { outputWithdrawn } from "../../engine/events.ts";
import type { AssistantMessage, CallPurpose, Execution, ExecutionRows } from "../../engine/execution.ts";
import { kindOf } from "../../engine/kinds.ts";
import type { ModelReply } from "../../engine/model.ts";
import { type AssistantPart, textPart } from "../../engine/parts.ts";
import type { Store, WriteTx } from "../../store/store.ts";
import { activity } from "../events/events.ts";
import { sessionStarted, toolCallEnd, toolCallStart, turnStarted, turnSteered } from "./events.ts";
import type { Lifecycle, SessionOwner } from "./lifecycle.ts";
import type { OutsideMarks } from "./outside.ts";
import { type SessionRow, type SessionStore, toExecution, type Work } from "./store.ts";
import type { Transcript } from "./transcript.ts";
import type { Tree } from "./tree.ts";

export interface RowsDeps {
  store: Store;
  clock: Clock;
  rows: SessionStore;
  transcript: Transcript;
  tree: Tree;
  lifecycle: Lifecycle;
  outside: OutsideMarks;
  ownerOf(kind: SessionRow["kind"]): SessionOwner | undefined;
  /** Writes the model call's row and event. */
  recordCall(tx: WriteTx, execution: Execution, reply: ModelReply, purpose: CallPurpose): void;
}

/** A shorter wait is not worth a write. */
const LEAST_WAIT_MS = 1_000;

const SPEND = `UPDATE executions SET turns = turns + 1, tokens = tokens + @tokens, cost_nano = cost_nano + @nano,
  calls_without_price = calls_without_price + @unpriced, calling = NULL WHERE id = @id`;

const BEGIN_CALL = "UPDATE executions SET calling = @calling WHERE id = @id";

const ANSWERED_BY = "UPDATE executions SET model = @model WHERE id = @id AND model IS NOT @model";

const shown = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);
const CRASHED =
  "Interrupted: the server stopped while this ran. It may have happened in part; look before you repeat it.";

/** The execution whose messages alone the model reads; undefined where it reads the whole session. */
const ownIn = ({ id, kind }: Execution): string | undefined => (kindOf(kind).reads === "execution" ? id : undefined);

export function createExecutionRows(deps: RowsDeps): ExecutionRows {
  const { store, clock, rows, transcript, tree, lifecycle, outside, ownerOf, recordCall } = deps;
  const owner = newId("instance");
  const now = () => timestamp(clock.now());

  /** Adds a model call to the log and to the sums of the execution, its session and those above. */
  function spend(tx: WriteTx, execution: Execution, reply: ModelReply, purpose: CallPurpose = "turn"): void {
    const { input_tokens, output_tokens } = reply.usage;
    const spent = {
      nano: Math.max(0, toNano(reply.cost_usd ?? 0)),
      tokens: input_tokens + output_tokens,
      unpriced: reply.cost_usd === null ? 1 : 0,
    };
    store.statement(SPEND).run({ ...spent, id: execution.id });
    tree.spend(execution.sessionId, spent, purpose === "turn" && spent.tokens > 0 ? spent.tokens : null);
    recordCall(tx, execution, reply, purpose);
    const replied = ownerOf(execution.kind)?.replied;
    if (replied) replied(rows.work(execution.id)!, tx);
  }

  function addSaid(
    { id: executionId, sessionId }: Execution,
    parts: AssistantPart[],
    finish: ModelReply["finish"],
  ): AssistantMessage {
    return store.write(() => {
      const content = transcript.withOwnCallIds(sessionId, parts);
      const seq = transcript.add({ sessionId, executionId, role: "assistant", content, finish });
      transcript.addCalls(sessionId, executionId, seq, content);
      return transcript.lastReply(sessionId, executionId)!.reply;
    });
  }

  function recordStart(tx: WriteTx, work: Work): void {
    const { session } = work;
    const refs = lifecycle.refsOf(session);
    if (kindOf(session.kind).sessionEnds === "work") tx.emit(sessionStarted, { ...refs, data: { kind: session.kind } });
    else tx.emit(turnStarted, { ...refs, data: { execution_id: work.id, message_id: work.message_id } });
  }

  function taken(tx: WriteTx, id: string): Execution {
    const { started_at, session_id } = rows.execution(id)!;
    rows.updateExecution(id, {
      status: "running",
      lease_owner: owner,
      started_at: started_at ?? now(),
      provider_until: null,
    });
    rows.updateSession(session_id, { status: "running", last_activity_at: now() });
    const work = rows.work(id)!;
    rows.noteTaken(work.session.user_id);
    if (started_at === null) recordStart(tx, work);
    ownerOf(work.session.kind)?.started?.(work, tx);
    return toExecution(work, work.prompt_id === null ? null : (rows.prompt(work.prompt_id) ?? null));
  }

  function queueAgain(id: string, sessionId: string, notBefore: number): void {
    rows.updateExecution(id, { status: "queued", lease_owner: null, not_before: notBefore });
    rows.updateSession(sessionId, { status: "queued" });
  }

  function noteWait(tx: WriteTx, work: Work, wait: NonNullable<Parameters<ExecutionRows["release"]>[2]>): void {
    const { id } = work;
    const { why, since, until = null } = wait;
    rows.updateExecution(id, { waiting_since: since, provider_until: until });
    if (why === work.waits_for) return;
    const isKnown = work.run_id !== null && rows.othersWaitFor(work.run_id, id, why);
    rows.updateExecution(id, { waits_for: why });
    // Emitted once, however often and by however many steps it is tried.
    if (!isKnown) tx.emit(activity, { ...lifecycle.refsOf(work.session), data: { title: `Waits: ${why}` } });
  }

  /** A model call that a dead process had under way may have been paid for: its prompt is, as far as is known. */
  function chargeCutCall(tx: WriteTx, id: string): void {
    const work = rows.work(id);
    if (!work?.calling) return;
    const { model, purpose, input_tokens, cost_usd } = work.calling;
    const none = { output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 };
    const message = "The server stopped during the call; its prompt is counted as sent.";
    spend(
      tx,
      toExecution(work, null),
      {
        parts: [],
        finish: "aborted",
        usage: { ...none, input_tokens },
        usage_estimated: true,
        cost_usd,
        cost_source: cost_usd === null ? "unknown" : "table",
        key_source: "none",
        attempts: 1,
        provider: model.split("/")[0] ?? "",
        model,
        duration_ms: 0,
        time_to_first_token_ms: null,
        error: { code: "server_stopped", message, retryable: true },
      },
      purpose,
    );
  }

  return {
    beginCall: ({ id }, call) =>
      store.note(() => store.statement(BEGIN_CALL).run({ id, calling: JSON.stringify(call) })),
    take(limit, busyAgents, rule) {
      // Looked for every second: no transaction of an idle server writes.
      const ids = rows.takeable(limit, busyAgents, rule);
      return ids.length === 0 ? [] : store.write((tx) => ids.map((id) => taken(tx, id)));
    },
    reclaim: () =>
      store.write((tx) => {
        const left = rows.abandoned(owner);
        for (const { id, session_id } of left) {
          chargeCutCall(tx, id);
          queueAgain(id, session_id, 0);
          // What it said in the call that was cut off is said again.
          tx.emit(outputWithdrawn, { ...lifecycle.refsOf(rows.session(session_id)!), data: {} });
        }
        return left.length;
      }),
    release(id, notBefore, wait) {
      store.write((tx) => {
        const work = rows.work(id);
        if (work?.status !== "running") return;
        queueAgain(id, work.session_id, notBefore);
        if (wait) noteWait(tx, work, wait);
      });
    },
    waits: (id, wait) =>
      store.write((tx) => {
        const work = rows.work(id);
        if (work?.status === "running") noteWait(tx, work, wait);
      }),
    resumed({ id, waitedMs }) {
      const before = rows.execution(id);
      const waited = before?.waits_for;
      if (!before || (!waited && waitedMs - before.waited_ms < LEAST_WAIT_MS)) return;
      store.write((tx) => {
        const work = rows.work(id);
        if (!work) return;
        rows.updateExecution(id, { waits_for: null, waited_ms: waitedMs, waiting_since: null });
        if (!waited) return;
        const isLast = work.run_id === null || !rows.othersWaitFor(work.run_id, id, waited);
        if (isLast) tx.emit(activity, { ...lifecycle.refsOf(work.session), data: { title: "Continues." } });
      });
    },
    begin: (execution, model, { system, said, skills }) =>
      store.write((tx) => {
        const { id, sessionId } = execution;
        const { message_id } = rows.execution(id)!;
        rows.updateExecution(id, { model, prompt_id: rows.keepPrompt(system) });
        rows.updateSession(sessionId, { model });
        transcript.add({ sessionId, executionId: id, role: "user", content: said, id: message_id });
        if (skills.length === 0) return;
        tx.emit(activity, {
          ...executionRefs(execution),
          data: { title: `skills put in: ${skills.join(", ")}`, skills },
        });
      }),
    context: (execution) => transcript.context(execution.sessionId, ownIn(execution)),
    lastReply: (execution) => transcript.lastReply(execution.sessionId, ownIn(execution)),
    notes: ({ id, sessionId }) => transcript.notes(sessionId, id),
    replies: ({ id, sessionId }) => transcript.replies(sessionId, id),
    stopRequested(id) {
      const row = rows.execution(id);
      return row ? (row.stop ?? undefined) : "cancel";
    },
    addNote: (execution, text, announced) =>
      store.write((tx) => {
        const { id: executionId, sessionId } = execution;
        transcript.add({ sessionId, executionId, role: "note", content: [textPart(text)] });
        if (announced) tx.emit(activity, { ...executionRefs(execution), data: { title: text } });
      }),
    takeSteering(execution) {
      const { id, sessionId } = execution;
      if (!rows.hasSteering(sessionId)) return false;
      store.write((tx) => {
        for (const { id: queued, steers, message_id, input } of rows.queued(sessionId)) {
          if (!steers) continue;
          transcript.add({ sessionId, executionId: id, role: "user", content: input, id: message_id });
          rows.removeExecution(queued);
          tx.emit(turnSteered, { ...executionRefs(execution), data: { execution_id: id, message_id } });
        }
      });
      return true;
    },
    addSummary: (execution, text, coversTo, reply, shorter) =>
      store.write((tx) => {
        const { id: executionId, sessionId } = execution;
        transcript.add({ sessionId, executionId, role: "summary", content: [textPart(text)], coversTo });
        spend(tx, execution, reply, "summary");
        const last = rows.session(sessionId)?.context_tokens ?? null;
        if (shorter && last !== null)
          rows.updateSession(sessionId, { context_tokens: Math.max(shorter.least, last - shorter.by) });
      }),
    answeredBy: ({ id }, model) => store.write(() => store.statement(ANSWERED_BY).run({ id, model })),
    logCall: (execution, reply, purpose) => store.write((tx) => spend(tx, execution, reply, purpose)),
    addReply: (execution, reply) =>
      store.write((tx) => {
        const { id: executionId, sessionId } = execution;
        const content = transcript.withOwnCallIds(sessionId, reply.parts);
        const { finish } = reply;
        const seq = transcript.add({ sessionId, executionId, role: "assistant", content, finish });
        transcript.addCalls(sessionId, executionId, seq, content);
        // The one that answered, where another had been asked first.
        store.statement(ANSWERED_BY).run({ id: executionId, model: reply.model });
        spend(tx, execution, reply);
      }),
    addCall: (execution, tool, input) =>
      addSaid(execution, [{ type: "tool_call", call_id: "run", tool, input }], "tool_calls").calls[0]!,
    addSaid,
    call: ({ sessionId }, { seq, position }) => transcript.call(sessionId, seq, position)!,
    harnessSession: (execution) => rows.harnessSession(execution.sessionId, ownIn(execution)),
    keepHarnessSession: ({ id }, harness_session) => store.write(() => rows.updateExecution(id, { harness_session })),
    startCall(execution, call, shownInput) {
      store.write((tx) => {
        transcript.updateCall(execution.sessionId, call, { status: "running", started_at: now() });
        const data = { call_id: call.callId, execution_id: execution.id, tool: call.tool, input: shownInput };
        tx.emit(toolCallStart, { ...executionRefs(execution), data });
      });
    },
    outside,
    endCall(execution, call, { ok, output, end, outside: reason }, durationMs) {
      store.write((tx) => {
        if (reason !== undefined) outside.mark(execution, reason);
        const duration_ms = Math.round(durationMs);
        transcript.updateCall(execution.sessionId, call, {
          status: "done",
          ok,
          output,
          ending: end ?? null,
          finished_at: now(),
          duration_ms,
        });
        const about = { call_id: call.callId, execution_id: execution.id, tool: call.tool };
        const data = { ...about, ok, duration_ms, output: shown(output, 4_000) };
        tx.emit(toolCallEnd, { ...executionRefs(execution), data });
      });
    },
    interruptCall: (execution, call) => store.write((tx) => lifecycle.interruptCall(tx, execution, call, CRASHED)),
    finish: ({ id }, ending) => store.write((tx) => lifecycle.finish(tx, id, ending)),
    orphans: () => rows.ownedBy(owner),
  };
}
