/** Gives secrets in plaintext to agents that were granted them, and to parts of the server. Each reading is audited. */
import { toTimestamp } from "../../core/clock.ts";
import { entryAllows } from "../../core/network.ts";
import { type Condition, matchInJson } from "../../store/reader.ts";
import { secretGrants, secrets } from "../../store/tables/secrets.ts";
import type { Core } from "../feature.ts";
import type { SecretEdge } from "./model.ts";
import type { SecretValues } from "./values.ts";

export interface ReadingsDeps extends Pick<Core, "store" | "clock" | "audit"> {
  values: Pick<SecretValues, "open">;
  /**
   * Agents that started the session, directly or indirectly, and hand on no more than they have. The session gets no
   * secret that they were not granted themselves.
   */
  boundsOf(sessionId: string): string[];
  /** @throws Problem 404. */
  assertAgent(agentId: string): void;
}

interface EnvReader {
  actor: string;
  address?: string | undefined;
  sessionId?: string | undefined;
}

interface SecretEnv {
  env: Record<string, string>;
  damaged: string[];
}

interface EdgeTarget {
  host: string;
  port: number;
}

interface EdgeSecret {
  name: string;
  value: string;
  edge: SecretEdge;
}

/** Ports of a host entry without a port: credentials are sent over TLS only. */
const TLS_PORTS = [443];
/** The condition that the agent was granted the secret. */
export const grantedTo = (agentId: string): Condition => [
  "id IN (SELECT secret_id FROM secret_grants WHERE agent_id = ?)",
  agentId,
];

export function createReadings({ store, clock, values, audit, boundsOf, assertAgent }: ReadingsDeps) {
  const [rows, grants] = [store.rows(secrets), store.rows(secretGrants)];
  const isGranted = (secretId: string, agentId: string): boolean =>
    grants.find({ secret_id: secretId, agent_id: agentId }) !== undefined;
  const grantedRows = (agentId: string, sessionId: string | undefined): (typeof secrets.$inferSelect)[] => {
    const bounds = sessionId === undefined ? [] : boundsOf(sessionId);
    const found = rows.list([grantedTo(agentId)], { order: "name" });
    return found.filter(({ id }) => bounds.every((other) => isGranted(id, other)));
  };
  const recordUse = (ids: string[], by: string): void => {
    if (ids.length === 0) return;
    rows.update({ last_used_at: toTimestamp(clock.now()), last_used_by: by }, matchInJson("id", ids));
  };
  return {
    /**
     * Plaintext for a part of the server itself; undefined when there is no such secret or it cannot be opened.
     * Audited.
     */
    valueOf(name: string, actor: string): string | undefined {
      const row = rows.find({ name });
      if (!row) return undefined;
      store.write(() => {
        audit({ action: "secret.value_read", actor, subject: row.id, data: { name } });
        recordUse([row.id], actor);
      });
      return values.open(row);
    },
    /** Names of the agent's secrets that the proxy puts into requests, for any host. */
    edgeNames: (agentId: string, { sessionId }: Pick<EnvReader, "sessionId">): string[] =>
      grantedRows(agentId, sessionId).flatMap(({ name, edge }) => (edge === null ? [] : [name])),
    /** The agent's secrets that the proxy puts into requests to this host. `isNew`: the reading is audited. */
    edgeFor(
      agentId: string,
      { host, port }: EdgeTarget,
      { actor, sessionId }: EnvReader,
      isNew: boolean,
    ): EdgeSecret[] {
      const fitting = grantedRows(agentId, sessionId).flatMap(({ edge, ...row }) =>
        edge?.hosts.some((entry) => entryAllows(entry, host, port, TLS_PORTS)) ? [{ ...row, edge }] : [],
      );
      if (fitting.length > 0 && isNew)
        store.write(() => {
          const data = { names: fitting.map(({ name }) => name), host: `${host}:${port}` };
          audit({ action: "secret.put_into_request", actor, subject: agentId, data });
          recordUse(
            fitting.map(({ id }) => id),
            `agent:${agentId}`,
          );
        });
      return fitting.flatMap(({ edge, ...row }) => {
        const value = values.open(row);
        return value === undefined ? [] : [{ name: row.name, value, edge }];
      });
    },
    /**
     * Plaintext by variable name, and the names of secrets that cannot be opened. Each reading is audited.
     * With a session: only secrets that the agents which started it were granted as well.
     */
    envOf(agentId: string, { actor, address, sessionId }: EnvReader): SecretEnv {
      assertAgent(agentId);
      // Secrets that the proxy puts into requests never enter a sandbox.
      const open = grantedRows(agentId, sessionId).filter(({ edge }) => edge === null);
      const opened = open.map((row) => [row.name, values.open(row)] as const);
      const env = Object.fromEntries(opened.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
      const damaged = opened.flatMap(([name, value]) => (value === undefined ? [name] : []));
      const data = { names: Object.keys(env), ...(damaged.length > 0 ? { damaged } : {}) };
      // If the agent was granted no secret, nothing was read, so nothing is audited.
      if (open.length === 0) return { env, damaged };
      store.write(() => {
        audit({ action: "secret.env_read", actor, subject: agentId, address, data });
        recordUse(
          open.filter(({ name }) => !damaged.includes(name)).map(({ id }) => id),
          `agent:${agentId}`,
        );
      });
      return { env, damaged };
    },
  };
}
