/**
 * The place of a piece of work in its trace: the trace's id and the parent span. It is computed from rows, so it is
 * always the same.
 */
import { readTraceParent, spanIdOf, traceIdOf } from "../../core/trace-context.ts";
import type { Store } from "../../store/store.ts";

export interface Place {
  traceId: string;
  /** Undefined at the root of a trace. */
  parentSpanId: string | undefined;
  /** Whether the caller whose trace it is does not record it. Then spans of this work are not sent either. */
  isDropped: boolean;
}

export interface ExecutionRow {
  id: string;
  session_id: string;
  agent_id: string;
  run_id: string | null;
  step_row_id: string | null;
  status: string;
  command: string | null;
  model: string | null;
  input: string;
  text: string;
  error: string | null;
  turns: number;
  tokens: number;
  cost_nano: number;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

interface SessionRow {
  parent_id: string | null;
  call_id: string | null;
  run_id: string | null;
  created_at: string;
}

export const SPAN = {
  run: (id: string) => spanIdOf(`run ${id}`),
  step: (id: string) => spanIdOf(`step ${id}`),
  execution: (id: string) => spanIdOf(`execution ${id}`),
  call: (sessionId: string, callId: string) => spanIdOf(`call ${sessionId} ${callId}`),
  model: (id: string) => spanIdOf(`model ${id}`),
};

const EXECUTION = `id, session_id, agent_id, run_id, step_row_id, status, command, model, input, text, error, turns, tokens,
  cost_nano, created_at, started_at, finished_at`;
/** Most levels of nested sessions that are followed; trees are not deeper. */
const LEVELS = 16;

export type Places = ReturnType<typeof createPlaces>;

export function createPlaces({ statement }: Pick<Store, "statement">) {
  const traceparentOf = (runId: string): string | null =>
    statement<string>("SELECT traceparent FROM run_traces WHERE run_id = ?").pluck().get([runId]) ?? null;
  const findSession = (id: string): SessionRow | undefined =>
    statement<SessionRow>("SELECT parent_id, call_id, run_id, created_at FROM sessions WHERE id = ?").get([id]);
  const findExecution = (id: string): ExecutionRow | undefined =>
    statement<ExecutionRow>(`SELECT ${EXECUTION} FROM executions WHERE id = ?`).get([id]);
  /** The execution of a session that ran at that time, or that ran last before it. */
  const executionAt = (sessionId: string, at: string): ExecutionRow | undefined =>
    statement<ExecutionRow>(
      `SELECT ${EXECUTION} FROM executions WHERE session_id = ? AND started_at <= ? ORDER BY id DESC LIMIT 1`,
    ).get([sessionId, at]);
  const executionOfCall = (sessionId: string, callId: string): string | undefined =>
    statement<string>("SELECT execution_id FROM tool_calls WHERE session_id = ? AND call_id = ?")
      .pluck()
      .get([sessionId, callId]);

  /** Place of the run itself. */
  function ofRun(runId: string): Place {
    const given = readTraceParent(traceparentOf(runId));
    return {
      traceId: given?.traceId ?? traceIdOf(`run ${runId}`),
      parentSpanId: given?.spanId,
      isDropped: given?.isSampled === false,
    };
  }
  const inRun = (runId: string, parentSpanId: string): Place => ({ ...ofRun(runId), parentSpanId });

  /** Place of an execution. Work that an agent handed on is placed below the tool call that started it. */
  function ofExecution({ id, session_id, run_id, step_row_id }: ExecutionRow, levels = LEVELS): Place {
    if (step_row_id !== null && run_id !== null) return inRun(run_id, SPAN.step(step_row_id));
    const own = findSession(session_id);
    if (own?.parent_id && levels > 0) {
      const called = own.call_id === null ? undefined : executionOfCall(own.parent_id, own.call_id);
      const parent = called === undefined ? executionAt(own.parent_id, own.created_at) : findExecution(called);
      if (parent) {
        const parentSpanId =
          called === undefined ? SPAN.execution(parent.id) : SPAN.call(own.parent_id, own.call_id ?? "");
        return { ...ofExecution(parent, levels - 1), parentSpanId };
      }
    }
    if (run_id !== null) return inRun(run_id, SPAN.run(run_id));
    return { traceId: traceIdOf(`execution ${id}`), parentSpanId: undefined, isDropped: false };
  }

  return {
    ofRun,
    inRun,
    ofExecution,
    /** Place of something that happens within an execution. */
    within: (row: ExecutionRow): Place => ({ ...ofExecution(row), parentSpanId: SPAN.execution(row.id) }),
    findExecution,
    executionAt,
    /** The last execution of a session that has ended. */
    findEnded: (sessionId: string): ExecutionRow | undefined =>
      statement<ExecutionRow>(
        `SELECT ${EXECUTION} FROM executions WHERE session_id = ? AND finished_at IS NOT NULL ORDER BY id DESC LIMIT 1`,
      ).get([sessionId]),
  };
}
