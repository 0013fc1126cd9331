/** The registry of tool servers: what administrators configure, the state of each server, and which tools are approved. */
import type { AddressGuard } from "../../adapter/address-guard.ts";
import { type Clock, timestamp } from "../../core/clock.ts";
import type { Config } from "../../core/config.ts";
import { conflict, invalidField, notFound } from "../../core/errors.ts";
import { ADMINISTRATORS } from "../../core/events.ts";
import { isSlug } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { withoutNull } from "../../core/schema.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store } from "../../store/store.ts";
import type { Connections } from "./connections.ts";
import { agentToolName, readTools } from "./definitions.ts";
import { mcpServerChanged } from "./events.ts";
import { readConfig } from "./import.ts";
import type { McpLogs } from "./logs.ts";
import {
  type Approval,
  EVERY_AGENT,
  type ImportBody,
  type Imported,
  type McpCreate,
  type McpServer,
  type McpTool,
  type McpUpdate,
  type MergedConfig,
  RESERVED_IDS,
  type StatusUpdate,
  type ToolsUpdate,
} from "./model.ts";
import { assertServerUrl } from "./server-url.ts";
import { isReady, type McpRows, type ServerRow, type ToolRow } from "./store.ts";
import { assertEnv, assertHeaders, type McpValues } from "./values.ts";

interface McpDeps {
  store: Store;
  clock: Clock;
  audit: Audit;
  config: Pick<Config, "allowHostShell">;
  rows: McpRows;
  values: McpValues;
  connections: Connections;
  logs: McpLogs;
  guard: Pick<AddressGuard, "isListed">;
  agentExists(id: string): boolean;
  /** Removes what a server kept, once it is gone. */
  removeFolder(id: string): Promise<void>;
}

export type Mcp = ReturnType<typeof createMcp>;

const DEFAULTS = {
  description: "",
  command: null,
  url: null,
  image: null,
  network: "bridge" as const,
  memory_mb: 512,
  timeout_ms: LIMITS.mcpTimeoutMs,
  enabled: true,
  held: null,
  held_reason: null,
  pinned_at: null,
  sealed_tokens: null,
  sealed_oauth: null,
  elicitation: "off" as const,
};

export function createMcp(deps: McpDeps) {
  const { store, clock, audit, rows, values, connections, logs } = deps;
  const find = (id: string): ServerRow => {
    const row = rows.find(id);
    if (!row) throw notFound("tool server");
    return row;
  };
  const record = (action: string, caller: Caller, id: string, data: Record<string, unknown> = {}) =>
    audit({ action: `mcp_server.${action}`, actor: actorOf(caller), subject: id, address: caller.address, data });

  const presentTool = (id: string, row: ToolRow): McpTool => ({
    name: row.name,
    description: row.offered.description,
    input_schema: row.offered.input_schema,
    output_schema: row.offered.output_schema ?? null,
    agent_tool: agentToolName(id, row.name),
    hash: row.offered_hash,
    state: stateOf(row),
    problem: row.problem,
    approved: row.approved_hash === row.offered_hash ? null : row.approved,
  });
  const present = (row: ServerRow, tools = rows.tools(row.id)): McpServer => {
    const { sealed_env, sealed_headers, sealed_tokens, sealed_oauth, held, held_reason, pinned_at: _, ...plain } = row;
    const state = connections.stateOf(row.id);
    return {
      ...plain,
      env: values.shown(values.open(sealed_env)),
      headers: values.shown(values.open(sealed_headers)),
      oauth: values.shownClient(sealed_oauth),
      status: row.enabled ? (held ?? state?.status ?? "configuring") : "stopped",
      error: row.enabled && held === "error" ? held_reason : (state?.error ?? null),
      needs_authorization: state?.needsAuthorization ?? false,
      authorized: sealed_tokens !== null,
      protocol: state?.protocol ?? null,
      tools: tools.map((tool) => presentTool(row.id, tool)),
    };
  };
  const merged = (before: ServerRow, { env, headers, oauth, ...sent }: McpUpdate): ServerRow => {
    const next = { ...before, ...withoutNull(sent) };
    const isElsewhere = originOf(next) !== originOf(before) || next.transport !== before.transport;
    const oldHeaders = isElsewhere ? {} : values.open(before.sealed_headers);
    const now = {
      env: env === undefined ? values.open(before.sealed_env) : values.merged(env, values.open(before.sealed_env)),
      // What was given for one address is sent to no other.
      headers: headers === undefined ? oldHeaders : values.merged(headers, oldHeaders),
    };
    assertWhole(deps, next, now);
    const client =
      oauth === undefined ? (isElsewhere ? null : before.sealed_oauth) : values.sealedClient(oauth, before);
    if (client !== null && next.url === null) throw invalidField("/oauth", "Only a server with an address has logins");
    values.mask(next.id, { ...now.env, ...now.headers });
    return {
      ...next,
      agents: [...new Set(next.agents)],
      sealed_env: env === undefined ? before.sealed_env : values.seal(now.env),
      sealed_headers: headers === undefined && !isElsewhere ? before.sealed_headers : values.seal(now.headers),
      sealed_oauth: client,
      // Tokens are those of the address and of the client that they were given to.
      ...(isElsewhere || client !== before.sealed_oauth ? { sealed_tokens: null } : {}),
    };
  };
  function create({ id, ...input }: McpCreate, caller: Caller): McpServer {
    if (!isSlug(id) || RESERVED_IDS.has(id)) throw invalidField("/id", "This word is reserved");
    const at = timestamp(clock.now());
    const empty: ServerRow = {
      ...DEFAULTS,
      id,
      name: id,
      transport: input.transport,
      args: [],
      agents: [],
      sealed_env: values.seal({}),
      sealed_headers: values.seal({}),
      created_at: at,
      updated_at: at,
    };
    const row = merged(empty, input);
    return store.write((tx) => {
      if (rows.find(id)) throw conflict("A tool server with this id exists. Update it, or delete it first.");
      if (rows.count() >= LIMITS.mcpServers) throw conflict(`There are ${LIMITS.mcpServers} tool servers already.`);
      rows.insert(row);
      record("created", caller, id, { transport: row.transport });
      tx.after(() => connections.sync(id));
      return present(row);
    });
  }

  return {
    find,
    get: (id: string): McpServer => present(find(id)),
    list(page: Page): ListAnswer<McpServer> {
      const { items, next_cursor } = pageOfArray(rows.all(), page, ({ id }) => id);
      const tools = rows.toolsOf(items.map(({ id }) => id));
      return { items: items.map((row) => present(row, tools.get(row.id) ?? [])), next_cursor };
    },
    create,
    update(id: string, input: McpUpdate, caller: Caller): McpServer {
      return store.write((tx) => {
        const next = merged(find(id), input);
        // A change, or switching it on, asks for another attempt.
        rows.update(id, { ...next, held: null, held_reason: null });
        record("updated", caller, id, { fields: Object.keys(input) });
        tx.after(() => connections.sync(id));
        return present(find(id));
      });
    },
    remove(id: string, caller: Caller): void {
      store.write((tx) => {
        find(id);
        rows.remove(id);
        record("deleted", caller, id);
        const data = { server_id: id, status: null, error: null, tools: 0, waiting: 0 };
        tx.emit(mcpServerChanged, { user_id: ADMINISTRATORS, data });
        tx.after(async () => {
          await connections.remove(id);
          logs.forget(id);
          await deps.removeFolder(id);
        });
      });
    },
    /** `running` and `configuring` start it again, `stopped` and `error` keep it off until another status is set. */
    setStatus(id: string, { status, error = null }: StatusUpdate, caller: Caller): McpServer {
      return store.write((tx) => {
        const row = find(id);
        if (error !== null && status !== "error") throw invalidField("/error", "Only the status error has a reason");
        const isHeld = status === "stopped" || status === "error";
        if (!row.enabled && !isHeld) throw conflict("The tool server is switched off. Set enabled first.");
        rows.update(id, {
          held: isHeld ? status : null,
          held_reason: status === "error" ? (error ?? "Said by an engine.") : null,
        });
        record("status_set", caller, id, { status });
        tx.after(() => (isHeld ? connections.sync(id) : connections.restart(id)));
        return present(find(id));
      });
    },
    /** Records what an engine found, or asks the server. @throws Problem 503 when it does not run. */
    async setTools(id: string, { tools }: ToolsUpdate, caller: Caller): Promise<McpServer> {
      find(id);
      if (tools === undefined) await connections.refresh(id);
      else {
        const listed = tools.map(({ input_schema, ...one }) => ({ ...one, inputSchema: input_schema }));
        const problems: string[] = [];
        const read = readTools(listed, (why) => problems.push(why));
        if (problems[0] !== undefined) throw invalidField("/tools", problems[0]);
        store.write(() => {
          rows.record(id, read);
          record("tools_set", caller, id, { tools: read.length });
        });
        connections.approved(id);
      }
      return present(find(id));
    },
    /** @throws Problem 404 no such tool, 409 it is another now, or cannot be used. */
    approve(id: string, { tools }: Approval, caller: Caller): McpServer {
      return store.write((tx) => {
        find(id);
        const all = rows.tools(id);
        const chosen: { name: string; hash?: string }[] =
          tools ?? all.filter(({ listed, problem }) => listed && problem === null).map(({ name }) => ({ name }));
        for (const { name, hash } of chosen) {
          const tool = all.find((one) => one.name === name);
          if (!tool?.listed) throw notFound("tool");
          if (tool.problem !== null) throw conflict(`${name} cannot be used: ${tool.problem}`);
          if (hash !== undefined && hash !== tool.offered_hash)
            throw conflict(`${name} has changed since. Look at it again.`, "tool_changed");
          rows.approve(id, name, tool);
        }
        record("tools_approved", caller, id, { tools: chosen.map(({ name }) => name).slice(0, 50) });
        tx.after(() => connections.approved(id));
        return present(find(id));
      });
    },
    exists: (id: string): boolean => rows.find(id) !== undefined,
    import({ config, image }: ImportBody, caller: Caller): Imported {
      const result: Imported = { created: [], left_out: [] };
      const servers = readConfig(config, image);
      store.write(() => {
        for (const { name, server, reason } of servers) {
          try {
            if (server) result.created.push(create(server, caller));
            else result.left_out.push({ name, reason: reason ?? "" });
          } catch (error) {
            result.left_out.push({ name, reason: reasonOf(error) });
          }
        }
      });
      return result;
    },
    /** Servers that are switched on, as `mcpServers`. Values in plain text for the engine's token alone, and audited. */
    mergedConfig(caller: Caller): MergedConfig {
      const isEngine = caller.kind === "engine";
      const shown = (server: string, sealed: string) =>
        isEngine ? values.resolved(server, values.open(sealed)) : values.shown(values.open(sealed));
      const on = rows.all().filter(({ enabled }) => enabled);
      if (isEngine) record("config_read", caller, "all", { servers: on.map(({ id }) => id).slice(0, 50) });
      return {
        mcpServers: Object.fromEntries(
          on.map((row) => [
            row.id,
            row.transport === "stdio"
              ? {
                  ...(row.command === null ? {} : { command: row.command }),
                  args: row.args,
                  env: shown(row.id, row.sealed_env),
                  ...(row.image === null ? {} : { image: row.image }),
                }
              : { type: row.transport, url: row.url ?? "", headers: shown(row.id, row.sealed_headers) },
          ]),
        ),
      };
    },
  };
}

const originOf = ({ url }: ServerRow): string | null =>
  url !== null && URL.canParse(url) ? new URL(url).origin : null;

function stateOf(row: ToolRow): McpTool["state"] {
  if (!row.listed) return "gone";
  if (row.problem !== null) return "unusable";
  if (isReady(row)) return "ready";
  return row.approved_hash === null ? "new" : "changed";
}

const reasonOf = (error: unknown): string => {
  if (error instanceof Error && "detail" in error) return String(error.detail);
  throw error;
};

/** @throws Problem 422: each kind of server needs its own fields, and takes no others. */
function assertWhole(
  { config, agentExists, guard }: McpDeps,
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
