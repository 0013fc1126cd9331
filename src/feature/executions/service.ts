/** Executions as the engine drives them: each step of the way one transaction with its event. */
import { type Clock, timestamp } from "../../core/clock.ts";
import { executionRefs } from "../../core/events.ts";
import { newId } from "../../core/ids.ts";
import type { CallPurpose, Ending, Execution, ExecutionRows } from "../../engine/execution.ts";
import type { ModelReply } from "../../engine/model.ts";
import type { Store, WriteTx } from "../../store/store.ts";
import { activity } from "../events/events.ts";
import { sessionEnded, sessionStarted, toolCallEnd, toolCallStart } from "./events.ts";
import type { ExecutionDraft } from "./model.ts";
import { createExecutionStore, type ExecutionRow, toExecution } from "./store.ts";

/** Features that started an execution hear of its way inside the same transaction, so that nothing falls between. */
export interface ExecutionOwner {
  started?(execution: ExecutionRow, tx: WriteTx): void;
  /** Progress of cost and tokens. */
  replied?(execution: ExecutionRow, tx: WriteTx): void;
  finished(execution: ExecutionRow, ending: Ending, tx: WriteTx): void;
}

export interface ExecutionListener {
  /** There is work. */
  queued(): void;
  /** This running execution is to end. */
  cancelled(id: string): void;
}

export interface ExecutionsDeps {
  store: Store;
  clock: Clock;
  /** Writes the model call's row and event. */
  recordCall(tx: WriteTx, execution: Execution, reply: ModelReply, purpose: CallPurpose): void;
}

export interface Executions {
  rows: ExecutionRows;
  /** Queues an agent's work; call inside the transaction that needs it. */
  create(draft: ExecutionDraft): ExecutionRow;
  find(id: string): ExecutionRow | undefined;
  /** Makes the owner hear of executions of that kind. */
  own(kind: ExecutionDraft["kind"], owner: ExecutionOwner): void;
  /** Asks a live execution to end: a queued one ends here and now, a running one as soon as its loop hears of it. */
  requestCancel(id: string): void;
  /** One listener: who carries executions out. Called after the commit. */
  listen(listener: ExecutionListener): void;
  live(): ExecutionRow[];
}

export function createExecutions({ store, clock, recordCall }: ExecutionsDeps): Executions {
  const table = createExecutionStore(store, clock);
  const owner = newId("instance");
  const now = () => timestamp(clock.now());
  const owners = new Map<string, ExecutionOwner>();
  let listener: ExecutionListener | undefined;
  const lines = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);

  const finishRow = (tx: WriteTx, id: string, ending: Ending): void => {
    const row = table.find(id);
    if (!row || row.finished_at !== null) return;
    const error = ending.status === "failed" ? ending.error : null;
    const outputs = ending.status === "succeeded" ? ending.outputs : {};
    table.update(id, {
      status: ending.status,
      outputs,
      text: ending.text,
      error,
      finished_at: now(),
      lease_owner: null,
    });
    const after = table.find(id)!;
    tx.emit(sessionEnded, {
      ...executionRefs(toExecution(after)),
      data: { status: ending.status, ...(error ? { error } : {}) },
    });
    owners.get(row.kind)?.finished(after, ending, tx);
  };

  /** Adds a model call to the log and to the execution's sums. */
  const spend = (tx: WriteTx, execution: Execution, reply: ModelReply, purpose: CallPurpose = "turn"): void => {
    const row = table.find(execution.id)!;
    const { input_tokens, output_tokens } = reply.usage;
    table.update(execution.id, {
      turns: row.turns + 1,
      tokens: row.tokens + input_tokens + output_tokens,
      cost_nano: row.cost_nano + Math.round((reply.cost_usd ?? 0) * 1e9),
    });
    recordCall(tx, execution, reply, purpose);
    owners.get(row.kind)?.replied?.(table.find(execution.id)!, tx);
  };
  const rows: ExecutionRows = {
    take(limit, busyAgents, perAgent) {
      return store.write((tx) => {
        const busy = new Map(busyAgents);
        const taken: Execution[] = [];
        for (const { id, agent_id } of table.queued(limit * 8)) {
          if (taken.length >= limit) break;
          if ((busy.get(agent_id) ?? 0) >= perAgent) continue;
          busy.set(agent_id, (busy.get(agent_id) ?? 0) + 1);
          const first = table.find(id)!.started_at === null;
          table.update(id, { status: "running", lease_owner: owner, ...(first ? { started_at: now() } : {}) });
          const row = table.find(id)!;
          if (first) tx.emit(sessionStarted, { ...executionRefs(toExecution(row)), data: { kind: row.kind } });
          owners.get(row.kind)?.started?.(row, tx);
          taken.push(toExecution(row));
        }
        return taken;
      });
    },
    reclaim: () =>
      store.write(() => {
        const left = table.abandoned(owner);
        for (const { id } of left) table.update(id, { status: "queued", lease_owner: null, not_before: 0 });
        return left.length;
      }),
    release(id, notBefore, why) {
      store.write((tx) => {
        const row = table.find(id);
        if (row?.status !== "running") return;
        table.update(id, { status: "queued", lease_owner: null, not_before: notBefore });
        if (why) tx.emit(activity, { ...executionRefs(toExecution(row)), data: { title: why } });
      });
    },
    begin: (id, model, system, user) =>
      store.write(() => {
        table.update(id, { model, system });
        // Chats and the like come with their messages.
        if (table.messages(id).length === 0) table.addMessage(id, "user", user);
      }),
    transcript: (id) => table.messages(id),
    cancelRequested: (id) => table.find(id)?.cancel_requested ?? true,
    addUserMessage: (id, content) => store.write(() => void table.addMessage(id, "user", content)),
    addSummary: (execution, content, reply) =>
      store.write((tx) => {
        table.addMessage(execution.id, "summary", content);
        spend(tx, execution, reply, "summary");
      }),
    logCall: (execution, reply, purpose) => store.write((tx) => spend(tx, execution, reply, purpose)),
    addReply: (execution, reply) =>
      store.write((tx) => {
        const seq = table.addMessage(execution.id, "assistant", reply.parts);
        table.addCalls(execution.id, seq, reply.parts);
        spend(tx, execution, reply);
      }),
    startCall(execution, call, shownInput) {
      store.write((tx) => {
        table.updateCall(execution.id, call, { status: "running", started_at: now() });
        tx.emit(toolCallStart, {
          ...executionRefs(execution),
          data: { call_id: call.callId, tool: call.tool, input: shownInput },
        });
      });
    },
    endCall(execution, call, { ok, output, end }, durationMs) {
      store.write((tx) => {
        const done = {
          status: "done" as const,
          ok,
          output,
          ending: end ?? null,
          finished_at: now(),
          duration_ms: Math.round(durationMs),
        };
        table.updateCall(execution.id, call, done);
        const data = {
          call_id: call.callId,
          tool: call.tool,
          ok,
          duration_ms: done.duration_ms,
          output: lines(output, 4_000),
        };
        tx.emit(toolCallEnd, { ...executionRefs(execution), data });
      });
    },
    interruptCall(execution, call) {
      const output =
        "Interrupted: the server stopped while this ran. It may have happened in part; look before you repeat it.";
      store.write((tx) => {
        table.updateCall(execution.id, call, { status: "interrupted", ok: false, output, finished_at: now() });
        const data = { call_id: call.callId, tool: call.tool, ok: false, duration_ms: 0, output, interrupted: true };
        tx.emit(toolCallEnd, { ...executionRefs(execution), data });
      });
    },
    finish: (execution, ending) => store.write((tx) => finishRow(tx, execution.id, ending)),
    orphans: () => table.ownedBy(owner),
  };

  return {
    rows,
    find: table.find,
    own: (kind, owner) => void owners.set(kind, owner),
    live: table.live,
    create: (draft) =>
      store.write((tx) => {
        tx.after(() => listener?.queued());
        return table.insert(draft);
      }),
    requestCancel(id) {
      store.write((tx) => {
        const row = table.find(id);
        if (!row || row.finished_at !== null) return;
        table.update(id, { cancel_requested: true });
        if (row.status !== "running") return finishRow(tx, id, { status: "cancelled", text: row.text });
        // A crash before this loses nothing: the next server reads the row before it goes on.
        tx.after(() => listener?.cancelled(id));
      });
    },
    listen(given) {
      listener = given;
    },
  };
}
