/**
 * An agent that another one starts has at most the powers of that one: its network, tools, secrets and cookies. Else an
 * agent without a network would have one started that has it. The file of the one that starts may say otherwise.
 */

import type { Network } from "../../core/network.ts";
import { NO_AGENT } from "../../core/no-agent.ts";
import { ownJson } from "../../core/own-json.ts";
import type { Store } from "../../store/store.ts";

interface PowersDeps {
  store: Pick<Store, "statement">;
  /** Undefined for an agent that is gone or whose file is broken: it has no powers to hand on. */
  agentOf(id: string): { network: Network; startsInFull: readonly string[] } | undefined;
  /** Names of all that it can use, grants and overrides included. */
  toolsOf(id: string): readonly string[];
}

interface Row {
  agent_id: string;
  parent_id: string | null;
  /** JSON array of tools that it is limited to. */
  tools: string | null;
  execution_count: number;
}

const ROW = "SELECT agent_id, parent_id, tools, execution_count FROM sessions WHERE id = ?";

export function createPowers({ store: { statement }, agentOf, toolsOf }: PowersDeps) {
  const above = (sessionId: string): { session: Row; parents: Row[] } | undefined => {
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
    // The session of a swarm itself is nobody's work: a person or an agent above it has started its tasks.
    return chain.filter((row, at) => at === 0 || row.execution_count > 0);
  }
  /** From the session upwards. A parent that starts somebody in full passes on none of its own bounds; those above it stay. */
  function boundsOf(sessionId: string): string[] {
    const found = above(sessionId);
    if (!found) return [];
    const bounds: string[] = [];
    let child = found.session.agent_id;
    for (const { agent_id } of found.parents) {
      const { startsInFull = [] } = agentOf(agent_id) ?? {};
      const isFree = agent_id === NO_AGENT || startsInFull.includes("*") || startsInFull.includes(child);
      if (!isFree) bounds.push(agent_id);
      child = agent_id;
    }
    // Also the agent's own: what bounds it in one session bounds it in those that it starts of itself.
    return [...new Set(bounds)];
  }
  return {
    /** Agents whose powers bound the session's: those it was started by, unless their files say otherwise. */
    boundsOf,
    /** The network of each of them; `none` for one that is gone. */
    networksOf: (sessionId: string): Network[] => boundsOf(sessionId).map((id) => agentOf(id)?.network ?? "none"),
    /** Whether each of them, and each session above, has the tool. Asked once before many tools. */
    allows(sessionId: string): (tool: string) => boolean {
      const sets = boundsOf(sessionId).map((id) => new Set(agentOf(id) ? toolsOf(id) : []));
      const limits = above(sessionId)?.parents.flatMap(({ tools }) => (tools === null ? [] : [namesIn(tools)])) ?? [];
      return (tool) => [...sets, ...limits].every((names) => names.has(tool));
    },
  };
}

const namesIn = (json: string): Set<string> => {
  const names: unknown = ownJson(json);
  return new Set(Array.isArray(names) ? names.map(String) : []);
};
