/** The messages of sessions and their tool calls, numbered per session. */
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import type { AssistantMessage, StoredCall, StoredMessage } from "../../engine/execution.ts";
import type { ModelReply } from "../../engine/model.ts";
import { type AssistantPart, type InputPart, type MessagePart, textOf } from "../../engine/parts.ts";
import type { Condition } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { messages, toolCalls } from "../../store/tables/sessions.ts";

type MessageRow = typeof messages.$inferSelect;
type CallRow = typeof toolCalls.$inferSelect;

/** A message as people read it: the calls of a reply are followed by their results. */
export interface TranscriptMessage extends Omit<MessageRow, "content"> {
  parts: MessagePart[];
}

interface NewMessage {
  sessionId: string;
  executionId: string;
  role: MessageRow["role"];
  content: MessagePart[];
  /** The message's id; a new one when absent. */
  id?: string | undefined;
  finish?: ModelReply["finish"] | undefined;
  coversTo?: number | undefined;
}

const toCall = (row: CallRow): StoredCall => ({
  seq: row.seq,
  position: row.position,
  callId: row.call_id,
  tool: row.tool,
  input: row.input,
  status: row.status,
  ok: row.ok ?? false,
  output: row.output ?? "",
  ending: row.ending ?? null,
});

function toStored(
  { seq, execution_id: executionId, role, content, finish, covers_to }: MessageRow,
  calls: StoredCall[],
) {
  const at = { seq, executionId };
  switch (role) {
    case "user":
      return { ...at, role, parts: content as InputPart[] };
    case "note":
      return { ...at, role, text: textOf(content) };
    case "summary":
      return { ...at, role, text: textOf(content), coversTo: covers_to ?? seq - 1 };
    case "assistant":
      return {
        ...at,
        role,
        parts: content as AssistantPart[],
        finish: finish ?? "stop",
        calls,
      };
  }
}

const LAST_SEQ = "SELECT max(seq) AS seq FROM messages WHERE session_id = ?";
const COUNT = "UPDATE sessions SET message_count = message_count + 1, last_activity_at = ? WHERE id = ?";

/** The messages that the model reads: of a session, or of one execution in it. */
const toFilter = (session_id: string, execution_id: string | undefined) => ({
  session_id,
  execution_id,
  withdrawn: false,
});
const repliesIn = (rows: readonly MessageRow[]) => rows.flatMap(({ role, seq }) => (role === "assistant" ? [seq] : []));

/** Makes call ids unique within the session, because some providers count from 0 in each reply. */
const withIdsBeside = (known: readonly string[], parts: AssistantPart[]): AssistantPart[] => {
  const taken = new Set(known);
  return parts.map((part) => {
    if (part.type !== "tool_call") return part;
    let call_id = part.call_id;
    for (let n = 2; taken.has(call_id); n++) call_id = `${part.call_id}_${n}`;
    taken.add(call_id);
    return call_id === part.call_id ? part : { ...part, call_id };
  });
};

const resultsOf = (calls: readonly CallRow[]) =>
  calls.flatMap(({ call_id, tool, ok, output, status }) =>
    status === "done" || status === "interrupted"
      ? [{ type: "tool_result" as const, call_id, tool, ok: ok ?? false, output: output ?? "" }]
      : [],
  );

export type Transcript = ReturnType<typeof createTranscript>;

export function createTranscript({ rows, statement }: Pick<Store, "rows" | "statement">, clock: Clock) {
  const [said, called] = [rows(messages), rows(toolCalls)];
  const readNow = () => toTimestamp(clock.now());
  const lastOf = (role: MessageRow["role"], sessionId: string, executionId: string | undefined) =>
    said.list([toFilter(sessionId, executionId), { role }], { order: "seq DESC", limit: 1 })[0];
  const numberOf = (text: string, ...values: unknown[]): number | null =>
    statement<number | null>(text).pluck().get(values) ?? null;
  const callsIn = (sessionId: string, seqs: readonly number[]): Map<number, CallRow[]> => {
    const found = new Map<number, CallRow[]>();
    if (seqs.length === 0) return found;
    const between: Condition = ["seq BETWEEN ? AND ?", Math.min(...seqs), Math.max(...seqs)];
    for (const row of called.list([{ session_id: sessionId }, between], { order: "seq, position" }))
      found.set(row.seq, [...(found.get(row.seq) ?? []), row]);
    return found;
  };

  return {
    add({ sessionId, executionId, role, content, id = newId("message"), finish, coversTo }: NewMessage): number {
      const seq = (numberOf(LAST_SEQ, sessionId) ?? -1) + 1;
      const at = readNow();
      said.insert({
        session_id: sessionId,
        execution_id: executionId,
        seq,
        id,
        role,
        content,
        finish: finish ?? null,
        covers_to: coversTo ?? null,
        withdrawn: false,
        created_at: at,
      });
      statement(COUNT).run([at, sessionId]);
      return seq;
    },
    withOwnCallIds(sessionId: string, parts: AssistantPart[]): AssistantPart[] {
      if (!parts.some(({ type }) => type === "tool_call")) return parts;
      const known = statement<string>("SELECT call_id FROM tool_calls WHERE session_id = ?").pluck().all([sessionId]);
      return withIdsBeside(known, parts);
    },
    addCalls(sessionId: string, executionId: string, seq: number, parts: readonly AssistantPart[]): void {
      const calls = parts.filter((part) => part.type === "tool_call");
      for (const [position, { call_id, tool, input }] of calls.entries())
        called.insert({
          session_id: sessionId,
          execution_id: executionId,
          seq,
          position,
          call_id,
          tool,
          input: input ?? null,
          status: "requested",
        });
    },
    updateCall: (sessionId: string, { seq, position }: StoredCall, change: Partial<CallRow>) =>
      void called.update(change, { session_id: sessionId, seq, position }),
    call(sessionId: string, seq: number, position: number): StoredCall | undefined {
      const row = callsIn(sessionId, [seq])
        .get(seq)
        ?.find((one) => one.position === position);
      return row && toCall(row);
    },
    /** Tool calls of that execution that have not ended. */
    openCalls: (sessionId: string, executionId: string): StoredCall[] =>
      called
        .list([{ session_id: sessionId, execution_id: executionId }, ["status IN ('requested', 'running')"]])
        .map(toCall),
    /**
     * The last summary, and the messages after those that it covers.
     * @param executionId limits the answer to its messages.
     */
    context(sessionId: string, executionId: string | undefined): StoredMessage[] {
      const summary = lastOf("summary", sessionId, executionId);
      const covered = summary ? (summary.covers_to ?? summary.seq) : -1;
      const later: Condition = ["role <> 'summary' AND seq > ?", covered];
      const rest = said.list([toFilter(sessionId, executionId), later], { order: "seq" });
      const calls = callsIn(sessionId, repliesIn(rest));
      return [...(summary ? [summary] : []), ...rest].map((row) =>
        toStored(row, (calls.get(row.seq) ?? []).map(toCall)),
      );
    },
    /** The last reply of the session, and whether nothing was said after it. */
    lastReply(
      sessionId: string,
      executionId: string | undefined,
    ): { reply: AssistantMessage; isLast: boolean } | undefined {
      const row = lastOf("assistant", sessionId, executionId);
      if (!row) return undefined;
      const calls = (callsIn(sessionId, [row.seq]).get(row.seq) ?? []).map(toCall);
      const isLast = numberOf(
        "SELECT count(*) FROM messages WHERE session_id = ? AND seq > ? AND withdrawn = 0",
        sessionId,
        row.seq,
      );
      const reply = toStored(row, calls);
      return reply.role === "assistant" ? { reply, isLast: isLast === 0 } : undefined;
    },
    /** The engine's own messages to that execution. */
    notes: (sessionId: string, executionId: string): string[] =>
      said
        .list([{ session_id: sessionId, execution_id: executionId, role: "note" }])
        .map(({ content }) => textOf(content)),
    replies: (sessionId: string, executionId: string): number =>
      numberOf(
        "SELECT count(*) FROM messages WHERE session_id = ? AND execution_id = ? AND role = 'assistant'",
        sessionId,
        executionId,
      ) ?? 0,
    /** Text of the last reply of that execution. */
    lastWords(sessionId: string, executionId: string): string {
      const of = { session_id: sessionId, execution_id: executionId, role: "assistant" as const };
      const [row] = said.list([of], { order: "seq DESC", limit: 1 });
      return row ? textOf(row.content) : "";
    },
    message: (id: string): MessageRow | undefined => said.find({ id }),
    /** All messages as they were, from that position on. */
    read(sessionId: string, from: number, limit: number): TranscriptMessage[] {
      const found = said.list([{ session_id: sessionId }, ["seq >= ?", from]], { order: "seq", limit });
      const calls = callsIn(sessionId, repliesIn(found));
      return found.map(({ content, ...row }) => {
        return { ...row, parts: [...content, ...resultsOf(calls.get(row.seq) ?? [])] };
      });
    },
    /**
     * Copies the messages up to `last`, with their calls, into a session that has none. Messages that were taken back
     * are left out.
     */
    copy(from: string, last: number, to: string): void {
      const copied = said.list([toFilter(from, undefined), ["seq <= ?", last]], { order: "seq" });
      const calls = callsIn(from, repliesIn(copied));
      const place = new Map(copied.map(({ seq }, index) => [seq, index]));
      for (const row of copied) {
        const seq = place.get(row.seq)!;
        const covers = row.covers_to === null ? null : copied.filter((one) => one.seq <= row.covers_to!).length - 1;
        said.insert({ ...row, session_id: to, seq, id: newId("message"), covers_to: covers });
        for (const call of calls.get(row.seq) ?? []) called.insert({ ...call, session_id: to, seq });
      }
      statement("UPDATE sessions SET message_count = ? WHERE id = ?").run(copied.length, to);
    },
    /** Takes back every message from that position on: people can still read them, the model no longer does. */
    withdrawFrom: (sessionId: string, seq: number) =>
      void said.update({ withdrawn: true }, { session_id: sessionId }, ["seq >= ?", seq]),
  };
}
