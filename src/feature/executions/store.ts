/** Rows of executions, their transcripts and tool calls. */
import { and, asc, eq, inArray, ne, sql } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import type { Execution, StoredCall, StoredMessage } from "../../engine/execution.ts";
import type { AssistantPart } from "../../engine/model.ts";
import type { ExecutionKind, ToolResult } from "../../engine/tool.ts";
import type { Store } from "../../store/store.ts";
import { executions, messages, toolCalls } from "../../store/tables/executions.ts";
import type { ExecutionDraft } from "./model.ts";

export type ExecutionRow = typeof executions.$inferSelect;
type CallRow = typeof toolCalls.$inferSelect;

const given = <T>(value: T | null): T | undefined => value ?? undefined;

export function toExecution(row: ExecutionRow): Execution {
  return {
    id: row.id,
    kind: row.kind as ExecutionKind,
    agentId: row.agent_id,
    runId: given(row.run_id),
    stepRowId: given(row.step_row_id),
    stepId: given(row.step_id),
    projectId: given(row.project_id),
    taskId: given(row.task_id),
    userId: given(row.user_id),
    wantedModel: given(row.wanted_model),
    prompt: row.prompt,
    system: row.system,
    contract: row.contract,
    skills: row.skills,
    timeoutSeconds: row.timeout_seconds,
    turns: row.turns,
    createdAt: Date.parse(row.created_at),
    startedAt: row.started_at === null ? null : Date.parse(row.started_at),
  };
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

export type ExecutionStore = ReturnType<typeof createExecutionStore>;

export function createExecutionStore(store: Store, clock: Clock) {
  const { db } = store;
  const now = () => timestamp(clock.now());
  const ofCall = (id: string, call: StoredCall) =>
    and(eq(toolCalls.execution_id, id), eq(toolCalls.seq, call.seq), eq(toolCalls.position, call.position));
  /**
   * Queued rows, the oldest of each run first, so that one run of thousands does not hold up the others. A wait that
   * is longer than any we give means that the clock was set back: it counts as over.
   */
  const queue = store.sqlite.prepare(`
    SELECT id, agent_id FROM (
      SELECT id, agent_id, created_at,
        row_number() OVER (PARTITION BY coalesce(run_id, id) ORDER BY id)
          + (SELECT count(*) FROM executions busy WHERE busy.status = 'running' AND busy.run_id = executions.run_id) AS turn
      FROM executions WHERE status = 'queued' AND (not_before <= @now OR not_before > @now + 60000)
    ) ORDER BY turn, id LIMIT @most`);

  return {
    insert(draft: ExecutionDraft): ExecutionRow {
      const row: ExecutionRow = {
        id: newId("session"),
        kind: draft.kind,
        agent_id: draft.agent_id,
        status: "queued",
        run_id: draft.run_id ?? null,
        step_row_id: draft.step_row_id ?? null,
        step_id: draft.step_id ?? null,
        project_id: draft.project_id ?? null,
        task_id: draft.task_id ?? null,
        user_id: draft.user_id ?? null,
        wanted_model: draft.model ?? null,
        model: null,
        prompt: draft.prompt,
        system: null,
        contract: draft.contract ?? { outputs: [], schema: null },
        skills: draft.skills ?? [],
        timeout_seconds: draft.timeout_seconds,
        lease_owner: null,
        not_before: 0,
        cancel_requested: false,
        turns: 0,
        cost_nano: 0,
        tokens: 0,
        outputs: {},
        text: "",
        error: null,
        created_at: now(),
        started_at: null,
        finished_at: null,
      };
      db.insert(executions).values(row).run();
      return row;
    },
    find: (id: string): ExecutionRow | undefined => db.select().from(executions).where(eq(executions.id, id)).get(),
    queued: (most: number) => queue.all({ now: clock.now(), most }) as { id: string; agent_id: string }[],
    update(id: string, change: Partial<ExecutionRow>): void {
      db.update(executions).set(change).where(eq(executions.id, id)).run();
    },
    /** Rows that another, dead process had in work. */
    abandoned: (owner: string): ExecutionRow[] =>
      db
        .select()
        .from(executions)
        .where(and(eq(executions.status, "running"), ne(executions.lease_owner, owner)))
        .all(),
    ownedBy: (owner: string): string[] =>
      db
        .select({ id: executions.id })
        .from(executions)
        .where(and(eq(executions.status, "running"), eq(executions.lease_owner, owner)))
        .all()
        .map(({ id }) => id),
    live: (): ExecutionRow[] =>
      db
        .select()
        .from(executions)
        .where(inArray(executions.status, ["queued", "running", "waiting"]))
        .all(),
    ofRun: (runId: string): ExecutionRow[] => db.select().from(executions).where(eq(executions.run_id, runId)).all(),
    nextSeq: (id: string): number =>
      (db
        .select({ last: sql<number | null>`max(${messages.seq})` })
        .from(messages)
        .where(eq(messages.execution_id, id))
        .get()?.last ?? -1) + 1,
    addMessage(id: string, role: "user" | "assistant" | "summary", content: unknown): number {
      const seq = this.nextSeq(id);
      db.insert(messages)
        .values({ execution_id: id, seq, id: newId("message"), role, content, created_at: now() })
        .run();
      return seq;
    },
    addCalls(id: string, seq: number, parts: AssistantPart[]): void {
      const calls = parts.filter((part) => part.type === "tool_call");
      for (const [position, part] of calls.entries())
        db.insert(toolCalls)
          .values({
            execution_id: id,
            seq,
            position,
            call_id: part.call_id,
            tool: part.tool,
            input: part.input ?? null,
            status: "requested",
          })
          .run();
    },
    updateCall(id: string, call: StoredCall, change: Partial<CallRow>): void {
      db.update(toolCalls).set(change).where(ofCall(id, call)).run();
    },
    messages(id: string): StoredMessage[] {
      const calls = db
        .select()
        .from(toolCalls)
        .where(eq(toolCalls.execution_id, id))
        .orderBy(asc(toolCalls.seq), asc(toolCalls.position))
        .all();
      const rows = db.select().from(messages).where(eq(messages.execution_id, id)).orderBy(asc(messages.seq)).all();
      return rows.map(({ seq, role, content }) =>
        role === "assistant"
          ? {
              seq,
              role,
              content: content as AssistantPart[],
              calls: calls.filter((call) => call.seq === seq).map(toCall),
            }
          : { seq, role, content: content as string },
      );
    },
  };
}
