/**
 * Logins to tool servers that are in progress. Each has a random state, which belongs to one server, is used once, and
 * expires after ten minutes.
 */

import { randomBytes } from "node:crypto";
import type { Credentials, OAuthServer, StartedLogin } from "../../adapter/mcp/oauth.ts";
import { badRequest, conflict, expectFound } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { ownJson } from "../../core/own-json.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import type { Core } from "../feature.ts";
import type { Connections } from "./connections.ts";
import type { McpRows, ServerRow } from "./store.ts";

interface LoginsDeps extends Pick<Core, "clock" | "sealer" | "audit"> {
  rows: McpRows;
  connections: Pick<Connections, "restart">;
  begin(server: OAuthServer, state: string, scope?: string): Promise<StartedLogin>;
  finish(server: OAuthServer, started: StartedLogin, answer: URLSearchParams): Promise<Credentials>;
  fetchOf(row: ServerRow): OAuthServer["fetch"];
  /** The OAuth client that was registered by hand for the server. */
  givenOf(row: ServerRow): OAuthServer["given"];
}

export type Logins = ReturnType<typeof createLogins>;

/** Addresses of this server, as a browser reaches it. */
export interface Here {
  redirectUri: string;
  clientMetadataUrl: string | undefined;
}

interface Flow extends Here {
  server: string;
  url: string;
  started: StartedLogin;
  actor: string;
  until: number;
}
/** Most logins in progress; the oldest are dropped. */
const FLOWS = 100;

export function createLogins(deps: LoginsDeps) {
  const { clock, sealer, audit, rows, connections } = deps;
  const flows = new Map<string, Flow>();
  const find = (id: string): ServerRow & { url: string } => {
    const row = expectFound(rows.find(id), "tool server");
    if (row.url === null) throw conflict("Only a server with an address can be logged in to.");
    return { ...row, url: row.url };
  };
  const serverOf = (row: ServerRow & { url: string }, { redirectUri, clientMetadataUrl }: Here): OAuthServer => ({
    url: row.url,
    redirectUri,
    fetch: deps.fetchOf(row),
    given: deps.givenOf(row),
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
  });
  const scopeOf = ({ sealed_tokens }: ServerRow): string | undefined =>
    sealed_tokens === null ? undefined : ownJson<Credentials>(sealer.open(sealed_tokens)).scope;
  const createProblem = () =>
    badRequest("This login was not started here, or has expired. Start it again.", "login_unknown");
  return {
    /** @throws Problem 404, 409 for a server without an address, 502 `authorization_failed`. */
    async begin(id: string, here: Here, caller: Caller): Promise<{ authorization_url: string; expires_in: number }> {
      const row = find(id);
      const state = randomBytes(32).toString("base64url");
      const started = await deps.begin(serverOf(row, here), state, scopeOf(row));
      for (const [old, { until }] of flows) if (until <= clock.monotonic() || flows.size >= FLOWS) flows.delete(old);
      const until = clock.monotonic() + LIMITS.signOnMs;
      flows.set(state, { server: id, url: row.url, ...here, started, actor: actorOf(caller), until });
      return { authorization_url: started.authorizationUrl, expires_in: LIMITS.signOnMs / 1_000 };
    },
    /** @returns the server's id. @throws Problem 400 `login_unknown`, 502 `authorization_failed`. */
    async finish(answer: URLSearchParams): Promise<string> {
      const state = answer.get("state") ?? "";
      const flow = flows.get(state);
      flows.delete(state);
      if (!flow || flow.until <= clock.monotonic()) throw createProblem();
      const row = find(flow.server);
      if (row.url !== flow.url) throw createProblem();
      const credentials = await deps.finish(serverOf(row, flow), flow.started, answer);
      // The server's address may have changed while the answer was awaited. The tokens are valid only for the old
      // address.
      if (rows.find(flow.server)?.url !== flow.url) throw createProblem();
      rows.keepTokens(flow.server, sealer.seal(JSON.stringify(credentials)));
      audit({ action: "mcp_server.authorized", actor: flow.actor, subject: flow.server, data: {} });
      connections.restart(flow.server);
      return flow.server;
    },
    forget(id: string, caller: Caller): void {
      find(id);
      rows.keepTokens(id, null);
      audit({ action: "mcp_server.authorization_forgotten", actor: actorOf(caller), subject: id, data: {} });
      connections.restart(id);
    },
  };
}
