/** The messages of sessions and the tool calls in them, numbered in the session. */
import { and, asc, count, desc, eq, gt, gte, inArray, lte, ne, sql } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import type { StoredCall, StoredMessage } from "../../engine/execution.ts";
import type { ModelReply } from "../../engine/model.ts";
import { type AssistantPart, type InputPart, type MessagePart, textOf } from "../../engine/parts.ts";
import type { ToolResult } from "../../engine/tool.ts";
import type { Store } from "../../store/store.ts";
import { messages, sessions, toolCalls } from "../../store/tables/sessions.ts";

export type MessageRow = typeof messages.$inferSelect;
type CallRow = typeof toolCalls.$inferSelect;

/** A message as people read it: a reply's calls are followed by their results. */
export interface TranscriptMessage extends Omit<MessageRow, "content"> {
  parts: MessagePart[];
}

interface NewMessage {
  sessionId: string;
  executionId: string;
  role: MessageRow["role"];
  content: MessagePart[];
  /** One of its own when absent. */
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
  ending: (row.ending as ToolResult["end"] | null) ?? null,
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
        finish: (finish ?? "stop") as ModelReply["finish"],
        calls,
      };
  }
}

export type Transcript = ReturnType<typeof createTranscript>;

export function createTranscript({ db }: Store, clock: Clock) {
  const now = () => timestamp(clock.now());
  const callsIn = (sessionId: string, seqs: readonly number[]): Map<number, CallRow[]> => {
    const found = new Map<number, CallRow[]>();
    if (seqs.length === 0) return found;
    const rows = db
      .select()
      .from(toolCalls)
      .where(
        and(
          eq(toolCalls.session_id, sessionId),
          gte(toolCalls.seq, Math.min(...seqs)),
          lte(toolCalls.seq, Math.max(...seqs)),
        ),
      )
      .orderBy(asc(toolCalls.seq), asc(toolCalls.position))
      .all();
    for (const row of rows) found.set(row.seq, [...(found.get(row.seq) ?? []), row]);
    return found;
  };
  const repliesIn = (rows: readonly MessageRow[]) =>
    rows.flatMap(({ role, seq }) => (role === "assistant" ? [seq] : []));

  return {
    add({ sessionId, executionId, role, content, id = newId("message"), finish, coversTo }: NewMessage): number {
      const last = db
        .select({ seq: sql<number | null>`max(${messages.seq})` })
        .from(messages)
        .where(eq(messages.session_id, sessionId))
        .get();
      const seq = (last?.seq ?? -1) + 1;
      const at = now();
      const row = { session_id: sessionId, execution_id: executionId, seq, id, role, content, created_at: at };
      db.insert(messages)
        .values({ ...row, finish: finish ?? null, covers_to: coversTo ?? null, withdrawn: false })
        .run();
      db.update(sessions)
        .set({ message_count: sql`${sessions.message_count} + 1`, last_activity_at: at })
        .where(eq(sessions.id, sessionId))
        .run();
      return seq;
    },
    /** Parts of a reply whose calls have ids that no other in the session has: some providers count from 0 each time. */
    withOwnCallIds(sessionId: string, parts: AssistantPart[]): AssistantPart[] {
      if (!parts.some(({ type }) => type === "tool_call")) return parts;
      const known = db
        .select({ id: toolCalls.call_id })
        .from(toolCalls)
        .where(eq(toolCalls.session_id, sessionId))
        .all();
      const taken = new Set(known.map(({ id }) => id));
      return parts.map((part) => {
        if (part.type !== "tool_call") return part;
        let call_id = part.call_id;
        for (let n = 2; taken.has(call_id); n++) call_id = `${part.call_id}_${n}`;
        taken.add(call_id);
        return call_id === part.call_id ? part : { ...part, call_id };
      });
    },
    addCalls(sessionId: string, executionId: string, seq: number, parts: readonly AssistantPart[]): void {
      const calls = parts.filter((part) => part.type === "tool_call");
      for (const [position, { call_id, tool, input }] of calls.entries())
        db.insert(toolCalls)
          .values({
            ...{ session_id: sessionId, execution_id: executionId, seq, position, call_id, tool },
            ...{ input: input ?? null, status: "requested" },
          })
          .run();
    },
    updateCall: (sessionId: string, { seq, position }: StoredCall, change: Partial<CallRow>) =>
      void db
        .update(toolCalls)
        .set(change)
        .where(and(eq(toolCalls.session_id, sessionId), eq(toolCalls.seq, seq), eq(toolCalls.position, position)))
        .run(),
    /** Calls of that execution that have not ended. */
    openCalls: (sessionId: string, executionId: string): StoredCall[] =>
      db
        .select()
        .from(toolCalls)
        .where(
          and(
            eq(toolCalls.session_id, sessionId),
            eq(toolCalls.execution_id, executionId),
            inArray(toolCalls.status, ["requested", "running"]),
          ),
        )
        .all()
        .map(toCall),
    /** The last summary and what follows the messages it covers. @param executionId only what belongs to it. */
    context(sessionId: string, executionId: string | undefined): StoredMessage[] {
      const mine = and(
        eq(messages.session_id, sessionId),
        eq(messages.withdrawn, false),
        executionId === undefined ? undefined : eq(messages.execution_id, executionId),
      );
      const summary = db
        .select()
        .from(messages)
        .where(and(mine, eq(messages.role, "summary")))
        .orderBy(desc(messages.seq))
        .limit(1)
        .get();
      const rest = db
        .select()
        .from(messages)
        .where(and(mine, ne(messages.role, "summary"), summary && gt(messages.seq, summary.covers_to ?? summary.seq)))
        .orderBy(asc(messages.seq))
        .all();
      const calls = callsIn(sessionId, repliesIn(rest));
      return [...(summary ? [summary] : []), ...rest].map((row) =>
        toStored(row, (calls.get(row.seq) ?? []).map(toCall)),
      );
    },
    replies: (sessionId: string, executionId: string): number =>
      db
        .select({ rows: count() })
        .from(messages)
        .where(
          and(
            eq(messages.session_id, sessionId),
            eq(messages.execution_id, executionId),
            eq(messages.role, "assistant"),
          ),
        )
        .get()!.rows,
    /** Words of the last reply of that execution. */
    lastWords(sessionId: string, executionId: string): string {
      const row = db
        .select()
        .from(messages)
        .where(
          and(
            eq(messages.session_id, sessionId),
            eq(messages.execution_id, executionId),
            eq(messages.role, "assistant"),
          ),
        )
        .orderBy(desc(messages.seq))
        .limit(1)
        .get();
      return row ? textOf(row.content) : "";
    },
    message: (id: string): MessageRow | undefined => db.select().from(messages).where(eq(messages.id, id)).get(),
    /** Everything that was said, as it was, from that position on. */
    read(sessionId: string, from: number, limit: number): TranscriptMessage[] {
      const rows = db
        .select()
        .from(messages)
        .where(and(eq(messages.session_id, sessionId), gte(messages.seq, from)))
        .orderBy(asc(messages.seq))
        .limit(limit)
        .all();
      const calls = callsIn(sessionId, repliesIn(rows));
      return rows.map(({ content, ...row }) => {
        const results = (calls.get(row.seq) ?? []).flatMap(({ call_id, tool, ok, output, status }) =>
          status === "done" || status === "interrupted"
            ? [{ type: "tool_result" as const, call_id, tool, ok: ok ?? false, output: output ?? "" }]
            : [],
        );
        return { ...row, parts: [...content, ...results] };
      });
    },
    /** Copies the messages up to `last`, with their calls, into a session that has none. What was taken back stays behind. */
    copy(from: string, last: number, to: string): void {
      const kept = db
        .select()
        .from(messages)
        .where(and(eq(messages.session_id, from), lte(messages.seq, last), eq(messages.withdrawn, false)))
        .orderBy(asc(messages.seq))
        .all();
      const calls = callsIn(from, repliesIn(kept));
      const place = new Map(kept.map(({ seq }, index) => [seq, index]));
      for (const row of kept) {
        const seq = place.get(row.seq)!;
        const covers = row.covers_to === null ? null : kept.filter((one) => one.seq <= row.covers_to!).length - 1;
        db.insert(messages)
          .values({ ...row, session_id: to, seq, id: newId("message"), covers_to: covers })
          .run();
        for (const call of calls.get(row.seq) ?? [])
          db.insert(toolCalls)
            .values({ ...call, session_id: to, seq })
            .run();
      }
      db.update(sessions).set({ message_count: kept.length }).where(eq(sessions.id, to)).run();
    },
    /** Takes back every message from that position on: people still read them, the model does not. */
    withdrawFrom: (sessionId: string, seq: number) =>
      void db
        .update(messages)
        .set({ withdrawn: true })
        .where(and(eq(messages.session_id, sessionId), gte(messages.seq, seq)))
        .run(),
  };
}
