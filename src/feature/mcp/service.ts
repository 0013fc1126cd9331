/** The registry of tool servers: their configuration by administrators, their states, and which tools are approved. */
import { toTimestamp } from "../../core/clock.ts";
import { conflict, expectFound, invalidField, notFound } from "../../core/errors.ts";
import { ADMINISTRATORS } from "../../core/events.ts";
import { isSlug } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import type { Core } from "../feature.ts";
import type { Connections } from "./connections.ts";
import { readTools } from "./definitions.ts";
import { mcpServerChanged } from "./events.ts";
import { readConfig } from "./import.ts";
import type { McpLogs } from "./logs.ts";
import {
  type Approval,
  type ImportBody,
  type Imported,
  type McpCreate,
  type McpServer,
  type McpUpdate,
  type MergedConfig,
  RESERVED_IDS,
  type StatusUpdate,
  type ToolsUpdate,
} from "./model.ts";
import { configOf, presentServer } from "./present.ts";
import { emptyServer, mergeServer, type ServerRowDeps } from "./server-row.ts";
import type { McpRows, ServerRow } from "./store.ts";

interface McpDeps extends ServerRowDeps, Pick<Core, "store" | "clock" | "audit"> {
  rows: McpRows;
  connections: Connections;
  logs: McpLogs;
  /** Removes a server's files once the server is gone. */
  removeFolder(id: string): Promise<void>;
}

export type Mcp = ReturnType<typeof createMcp>;

export function createMcp(deps: McpDeps) {
  const { store, clock, audit, rows, values, connections, logs } = deps;
  const present = (row: ServerRow, tools = rows.listTools(row.id)): McpServer =>
    presentServer(row, tools, values, connections.stateOf(row.id));
  const find = (id: string): ServerRow => expectFound(rows.find(id), "tool server");
  const record = (action: string, caller: Caller, id: string, data: Record<string, unknown> = {}) =>
    audit({ action: `mcp_server.${action}`, ...actedBy(caller), subject: id, data });

  function create({ id, ...input }: McpCreate, caller: Caller): McpServer {
    if (!isSlug(id) || RESERVED_IDS.has(id)) throw invalidField("/id", "This word is reserved");
    const at = toTimestamp(clock.now());
    const row = mergeServer(deps, emptyServer(id, input.transport, at, values.seal), input);
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
        const next = mergeServer(deps, find(id), input);
        // A change of the server, or switching it on, lets it try to start again.
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
    /**
     * Sets the status. `running` and `configuring` restart the server; `stopped` and `error` keep it off until another
     * status is set.
     */
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
    /**
     * Records the tools that an external engine reports, or asks the server for its list.
     * @throws Problem 503 when the server does not run.
     */
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
        connections.reloadApproved(id);
      }
      return present(find(id));
    },
    /**
     * @throws Problem 404 for an unknown tool, 409 for a tool that has changed since it was shown or that cannot be
     * used.
     */
    approve(id: string, { tools }: Approval, caller: Caller): McpServer {
      return store.write((tx) => {
        find(id);
        const all = rows.listTools(id);
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
        tx.after(() => connections.reloadApproved(id));
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
    /**
     * Servers that are switched on, as `mcpServers`. Only the engine's token gets the values in plain text, and that is
     * audited.
     */
    mergedConfig(caller: Caller): MergedConfig {
      const isEngine = caller.kind === "engine";
      const openValues = (server: string, sealed: string) =>
        isEngine ? values.resolve(server, values.open(sealed)) : values.present(values.open(sealed));
      const on = rows.all().filter(({ enabled }) => enabled);
      if (isEngine) record("config_read", caller, "all", { servers: on.map(({ id }) => id).slice(0, 50) });
      return {
        mcpServers: Object.fromEntries(on.map((row) => [row.id, configOf(row, openValues)])),
      };
    },
  };
}

const reasonOf = (error: unknown): string => {
  if (error instanceof Error && "detail" in error) return String(error.detail);
  throw error;
};
