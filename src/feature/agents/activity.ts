/** An agent's activity and grants, from the tables of other features. */
import type { Store } from "../../store/store.ts";
import { permissionAnswers } from "../../store/tables/permissions.ts";
import { pulseRoutines } from "../../store/tables/pulses.ts";
import { secretGrants } from "../../store/tables/secrets.ts";

export function createAgentActivity(store: Store) {
  const { statement } = store;
  const owned = [store.rows(secretGrants), store.rows(permissionAnswers), store.rows(pulseRoutines)];
  // These run for each agent of a list. The query builder would compile each of the four again every time.
  const prepareNumber = (text: string) => (agentId: string) => statement<number>(text).pluck().get(agentId) ?? 0;
  const working = prepareNumber("SELECT 1 FROM executions WHERE agent_id = ? AND finished_at IS NULL LIMIT 1");
  return {
    /** Number of runs in which the agent took a step. */
    runs: prepareNumber("SELECT runs FROM agent_totals WHERE agent_id = ?"),
    secrets: prepareNumber("SELECT count(*) FROM secret_grants WHERE agent_id = ?"),
    /** Number of entries in the agent's shared memory. */
    memories: prepareNumber("SELECT count(*) FROM memory_entries WHERE vault = ? AND owner_id IS NULL"),
    /** True while the agent has an execution that is queued or running. */
    isWorking: (agentId: string): boolean => working(agentId) === 1,
    /** Removes a deleted agent's grants, routines and remembered answers. */
    forget: (agentId: string): void =>
      store.write(() => {
        for (const rows of owned) rows.remove({ agent_id: agentId });
      }),
  };
}
