/** An agent's activity and grants, from the tables of other features. */
import { and, count, eq, isNull } from "drizzle-orm";
import type { Store } from "../../store/store.ts";
import { pulseRoutines } from "../../store/tables/pulses.ts";
import { agentTotals } from "../../store/tables/runs.ts";
import { secretGrants } from "../../store/tables/secrets.ts";
import { executions } from "../../store/tables/sessions.ts";

export interface AgentActivity {
  /** Runs in which it took a step. */
  runs(agentId: string): number;
  secrets(agentId: string): number;
  /** Entries of its shared memory. */
  memories(agentId: string): number;
  /** True while an execution of it is queued or running. */
  isWorking(agentId: string): boolean;
  /** Removes a deleted agent's grants and routines. */
  forget(agentId: string): void;
}

export function createAgentActivity(store: Store): AgentActivity {
  const { db } = store;
  return {
    runs: (agentId) =>
      db.select({ runs: agentTotals.runs }).from(agentTotals).where(eq(agentTotals.agent_id, agentId)).get()?.runs ?? 0,
    secrets: (agentId) =>
      db.select({ rows: count() }).from(secretGrants).where(eq(secretGrants.agent_id, agentId)).get()!.rows,
    memories: (agentId) =>
      store
        .statement<number>("SELECT count(*) FROM memory_entries WHERE vault = ? AND owner_id IS NULL")
        .pluck()
        .get(agentId)!,
    isWorking: (agentId) =>
      db
        .select({ id: executions.id })
        .from(executions)
        .where(and(eq(executions.agent_id, agentId), isNull(executions.finished_at)))
        .limit(1)
        .get() !== undefined,
    forget: (agentId) =>
      store.write(() => {
        db.delete(secretGrants).where(eq(secretGrants.agent_id, agentId)).run();
        db.delete(pulseRoutines).where(eq(pulseRoutines.agent_id, agentId)).run();
      }),
  };
}
