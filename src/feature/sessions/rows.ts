/** The rows of executions and their messages, as the engine uses them. Each step is one transaction with its event. */
import { toTimestamp } from "../../core/clock.ts";
import { executionRefs } from "../../core/events.ts";
import type { AssistantMessage, Execution, ExecutionRows } from "../../engine/execution.ts";
import { kindOf } from "../../engine/kinds.ts";
import type { ModelReply } from "../../engine/model.ts";
import { type AssistantPart, textPart } from "../../engine/parts.ts";
import { activity } from "../events/events.ts";
import { toolCallEnd, toolCallStart, turnSteered } from "./events.ts";
import { createModelCalls, type ModelCallsDeps } from "./model-calls.ts";
import type { OutsideMarks } from "./outside.ts";
import { createExecutionQueue, type QueueDeps } from "./queue.ts";
import type { Transcript } from "./transcript.ts";

type RowsDeps = ModelCallsDeps & Omit<QueueDeps, "chargeCutCall"> & { transcript: Transcript; outside: OutsideMarks };

const truncate = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);
const CRASHED =
  "Interrupted: the server or the container engine stopped while this ran. It may have happened in part; look before you repeat it.";

/** The execution to whose messages the model's context is limited; undefined if the model reads the whole session. */
const ownIn = ({ id, kind }: Execution): string | undefined => (kindOf(kind).reads === "execution" ? id : undefined);

export function createExecutionRows(deps: RowsDeps): ExecutionRows {
  const { store, clock, rows, transcript, lifecycle, outside } = deps;
  const calls = createModelCalls(deps);
  const readNow = () => toTimestamp(clock.now());

  function insertReply({ id, sessionId }: Execution, parts: AssistantPart[], finish: ModelReply["finish"]): void {
    const content = transcript.withOwnCallIds(sessionId, parts);
    const seq = transcript.add({ sessionId, executionId: id, role: "assistant", content, finish });
    transcript.addCalls(sessionId, id, seq, content);
  }
  const addSaid = (execution: Execution, parts: AssistantPart[], finish: ModelReply["finish"]): AssistantMessage =>
    store.write(() => {
      insertReply(execution, parts, finish);
      return transcript.lastReply(execution.sessionId, execution.id)!.reply;
    });

  return {
    ...createExecutionQueue({ ...deps, chargeCutCall: calls.chargeCutCall }),
    beginCall: calls.begin,
    answeredBy: (execution, model) => store.write(() => calls.noteModel(execution, model)),
    logCall: (execution, reply, purpose) => store.write((tx) => calls.spend(tx, execution, reply, purpose)),
    begin: (execution, model, { system, said, skills }) =>
      store.write((tx) => {
        const { id, sessionId } = execution;
        const { message_id } = rows.findExecution(id)!;
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
        for (const { id: queued, steers, message_id, input } of rows.listQueued(sessionId)) {
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
        calls.spend(tx, execution, reply, "summary");
        const last = rows.findSession(sessionId)?.context_tokens ?? null;
        if (shorter && last !== null)
          rows.updateSession(sessionId, { context_tokens: Math.max(shorter.least, last - shorter.by) });
      }),
    addReply: (execution, reply) =>
      store.write((tx) => {
        insertReply(execution, reply.parts, reply.finish);
        calls.noteModel(execution, reply.model);
        calls.spend(tx, execution, reply);
      }),
    addCall: (execution, tool, input) =>
      addSaid(execution, [{ type: "tool_call", call_id: "run", tool, input }], "tool_calls").calls[0]!,
    addSaid,
    call: ({ sessionId }, { seq, position }) => transcript.call(sessionId, seq, position)!,
    harnessSession: (execution) => rows.harnessSession(execution.sessionId, ownIn(execution)),
    keepHarnessSession: ({ id }, harness_session) => store.write(() => rows.updateExecution(id, { harness_session })),
    startCall(execution, call, shownInput) {
      store.write((tx) => {
        transcript.updateCall(execution.sessionId, call, { status: "running", started_at: readNow() });
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
          finished_at: readNow(),
          duration_ms,
        });
        const about = { call_id: call.callId, execution_id: execution.id, tool: call.tool };
        const data = { ...about, ok, duration_ms, output: truncate(output, 4_000) };
        tx.emit(toolCallEnd, { ...executionRefs(execution), data });
      });
    },
    interruptCall: (execution, call) => store.write((tx) => lifecycle.interruptCall(tx, execution, call, CRASHED)),
    finish: ({ id }, ending) => store.write((tx) => lifecycle.finish(tx, id, ending)),
  };
}
