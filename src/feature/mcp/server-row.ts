/** Makes rows of tool servers from what administrators send. */
import type { AddressGuard } from "../../adapter/address-guard.ts";
import type { Config } from "../../core/config.ts";
import { invalidField } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { withoutNull } from "../../core/schema.ts";
import { EVERY_AGENT, type McpUpdate } from "./model.ts";
import { assertServerUrl } from "./server-url.ts";
import type { ServerRow } from "./store.ts";
import { assertEnv, assertHeaders, type McpValues } from "./values.ts";

export interface ServerRowDeps {
  config: Pick<Config, "allowHostShell">;
  values: McpValues;
  guard: Pick<AddressGuard, "isListed">;
  agentExists(id: string): boolean;
}

export const emptyServer = (
  id: string,
  transport: ServerRow["transport"],
  at: string,
  seal: McpValues["seal"],
): ServerRow => ({
  description: "",
  command: null,
  url: null,
  image: null,
  network: "bridge",
  memory_mb: 512,
  timeout_ms: LIMITS.mcpTimeoutMs,
  enabled: true,
  held: null,
  held_reason: null,
  pinned_at: null,
  sealed_tokens: null,
  sealed_oauth: null,
  elicitation: "off",
  id,
  name: id,
  transport,
  args: [],
  agents: [],
  sealed_env: seal({}),
  sealed_headers: seal({}),
  created_at: at,
  updated_at: at,
});

/** The row, changed by the fields that were sent. @throws Problem 422. */
export function mergeServer(
  deps: ServerRowDeps,
  before: ServerRow,
  { env, headers, oauth, ...sent }: McpUpdate,
): ServerRow {
  const { values } = deps;
  const next = { ...before, ...withoutNull(sent) };
  const isElsewhere = originOf(next) !== originOf(before) || next.transport !== before.transport;
  const oldHeaders = isElsewhere ? {} : values.open(before.sealed_headers);
  const now = {
    env: env === undefined ? values.open(before.sealed_env) : values.merge(env, values.open(before.sealed_env)),
    // Headers that were given for one address are never sent to another one.
    headers: headers === undefined ? oldHeaders : values.merge(headers, oldHeaders),
  };
  assertWhole(deps, next, now);
  const client = oauth === undefined ? (isElsewhere ? null : before.sealed_oauth) : values.sealedClient(oauth, before);
  if (client !== null && next.url === null) throw invalidField("/oauth", "Only a server with an address has logins");
  values.mask(next.id, { ...now.env, ...now.headers });
  return {
    ...next,
    agents: [...new Set(next.agents)],
    sealed_env: env === undefined ? before.sealed_env : values.seal(now.env),
    sealed_headers: headers === undefined && !isElsewhere ? before.sealed_headers : values.seal(now.headers),
    sealed_oauth: client,
    // Tokens are valid only for the address and the client that they were issued for.
    ...(isElsewhere || client !== before.sealed_oauth ? { sealed_tokens: null } : {}),
  };
}

const originOf = ({ url }: ServerRow): string | null =>
  url !== null && URL.canParse(url) ? new URL(url).origin : null;

/** @throws Problem 422: each kind of server needs its own fields, and takes no others. */
function assertWhole(
  { config, agentExists, guard }: ServerRowDeps,
  row: ServerRow,
  { env, headers }: { env: Record<string, string>; headers: Record<string, string> },
): void {
  assertEnv(env);
  assertHeaders(headers);
  const stranger = row.agents.find((id) => id !== EVERY_AGENT && !agentExists(id));
  if (stranger !== undefined) throw invalidField("/agents", `There is no agent ${stranger.slice(0, 64)}`);
  if (row.transport !== "stdio") {
    if (row.url === null) throw invalidField("/url", `A server of the transport ${row.transport} has an address`);
    if (row.command !== null || row.image !== null || row.args.length > 0 || Object.keys(env).length > 0)
      throw invalidField(
        "/command",
        "A server with an address is not started here: it takes no command, args, env or image",
      );
    return assertServerUrl(row.url, guard);
  }
  if (row.url !== null || Object.keys(headers).length > 0)
    throw invalidField("/url", "A stdio server has no address and no headers");
  if ([row.command ?? "", row.image ?? "", ...row.args].some((text) => text.includes("\0")))
    throw invalidField("/args", "An argument cannot hold a NUL character");
  if (row.image !== null) return;
  if (row.command === null) throw invalidField("/command", "A stdio server needs a command or an image");
  if (row.enabled && !config.allowHostShell)
    throw invalidField(
      "/image",
      "A stdio server runs in a container: name the image. On this host it runs only where ALLOW_HOST_SHELL is set",
    );
}
