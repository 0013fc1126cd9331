/**
 * Limits an agent that was started by another agent to the network, tools, secrets and cookies of the one that started
 * it. Otherwise an agent without a network could start one that has a network. The starting agent's file may lift the
 * limit.
 */

import type { Network } from "../../core/network.ts";
import { NO_AGENT } from "../../core/no-agent.ts";
import { ownJson } from "../../core/own-json.ts";
import type { Store } from "../../store/store.ts";

interface PowersDeps {
  store: Pick<Store, "statement">;
  /** Undefined for an agent that is gone or whose file is broken: such an agent passes on no powers. */
  agentOf(id: string): { network: Network; startsInFull: readonly string[] } | undefined;
  /** Names of all tools that the agent can use, grants and overrides included. */
  toolsOf(id: string): readonly string[];
}

interface Row {
  agent_id: string;
  parent_id: string | null;
  /** JSON array of the tools to which the session is limited. */
  tools: string | null;
  execution_count: number;
}

const ROW = "SELECT agent_id, parent_id, tools, execution_count FROM sessions WHERE id = ?";

export function createPowers({ store: { statement }, agentOf, toolsOf }: PowersDeps) {
  const findWithParents = (sessionId: string): { session: Row; parents: Row[] } | undefined => {
    const [session, ...parents] = chainOf(sessionId);
    return session && { session, parents };
  };
  function chainOf(sessionId: string): Row[] {
    const chain: Row[] = [];
    for (let id: string | null = sessionId; id !== null; ) {
      const row: Row | undefined = statement<Row>(ROW).get([id]);
      if (!row) break;
      chain.push(row);
      id = row.parent_id;
    }
    // Leaves out sessions above that never ran, like the session of a swarm: a person or an agent above it started the
    // tasks.
    return chain.filter((row, at) => at === 0 || row.execution_count > 0);
  }
  /**
   * Agents that limit the session, from its parent upwards. A parent that starts an agent with full powers does not
   * limit it; the agents above that parent still do.
   */
  function boundsOf(sessionId: string): string[] {
    const found = findWithParents(sessionId);
    if (!found) return [];
    const bounds: string[] = [];
    let child = found.session.agent_id;
    for (const { agent_id } of found.parents) {
      const { startsInFull = [] } = agentOf(agent_id) ?? {};
      const isFree = agent_id === NO_AGENT || startsInFull.includes("*") || startsInFull.includes(child);
      if (!isFree) bounds.push(agent_id);
      child = agent_id;
    }
    // May contain the session's own agent: an agent that starts itself stays limited by its parent session.
    return [...new Set(bounds)];
  }
  return {
    /** Ids of the agents whose powers limit the session: those above it, except where their files lift the limit. */
    boundsOf,
    /** The network of each limiting agent; `none` for one that is gone. */
    networksOf: (sessionId: string): Network[] => boundsOf(sessionId).map((id) => agentOf(id)?.network ?? "none"),
    /**
     * Returns a check whether every limiting agent, and every session above, has a tool. Build it once to check many
     * tools.
     */
    allows(sessionId: string): (tool: string) => boolean {
      const sets = boundsOf(sessionId).map((id) => new Set(agentOf(id) ? toolsOf(id) : []));
      const limits =
        findWithParents(sessionId)?.parents.flatMap(({ tools }) => (tools === null ? [] : [namesIn(tools)])) ?? [];
      return (tool) => [...sets, ...limits].every((names) => names.has(tool));
    },
  };
}

const namesIn = (json: string): Set<string> => {
  const names: unknown = ownJson(json);
  return new Set(Array.isArray(names) ? names.map(String) : []);
};
