/**
 * All running tool servers: starts and stops them as their rows say, and holds the tools that agents have from them.
 */
import type { CallOptions, Connection } from "../../adapter/mcp/client.ts";
import { messageOf, unavailable } from "../../core/errors.ts";
import { ADMINISTRATORS } from "../../core/events.ts";
import type { Store } from "../../store/store.ts";
import type { Core } from "../feature.ts";
import { agentToolName, readTools } from "./definitions.ts";
import { mcpServerChanged } from "./events.ts";
import type { McpLogs } from "./logs.ts";
import { EVERY_AGENT } from "./model.ts";
import { isReady, isWaiting, type McpRows, type ServerRow, type ToolRow } from "./store.ts";
import { type CallResult, type ServerState, type Supervised, supervise } from "./supervised.ts";

interface ConnectionsDeps extends Pick<Core, "log"> {
  store: Pick<Store, "write">;
  rows: McpRows;
  logs: McpLogs;
  connect(row: ServerRow, signal: AbortSignal, onToolsChanged: () => void): Promise<Connection>;
  /** First pause before a server is started again, ms. */
  pauseMs: number;
}

export interface ReadyTool {
  server: ServerRow;
  tool: ToolRow;
  /** The tool's name for agents. */
  name: string;
}

export type Connections = ReturnType<typeof createConnections>;

interface Running {
  row: ServerRow;
  supervised: Supervised;
  tools: ReadyTool[];
}

const isWanted = (row: ServerRow | undefined): row is ServerRow => row?.enabled === true && row.held === null;
/** The fields whose change needs a restart of the server. */
const toFingerprint = ({ transport, command, args, url, image, network, memory_mb, ...row }: ServerRow) =>
  JSON.stringify([
    transport,
    command,
    args,
    url,
    image,
    network,
    memory_mb,
    row.elicitation,
    row.sealed_env,
    row.sealed_headers,
    row.sealed_oauth,
  ]);

export function createConnections(deps: ConnectionsDeps) {
  const { store, rows, logs, log } = deps;
  const running = new Map<string, Running>();
  /**
   * Servers that are being stopped, by id. The next start waits for this, or two processes of a server would use one
   * folder.
   */
  const ending = new Map<string, Promise<void>>();
  let isOn = false;

  function publish(id: string): void {
    const row = rows.find(id);
    if (!row) return;
    const all = rows.listTools(id);
    const state = running.get(id)?.supervised.state;
    const data = {
      server_id: id,
      status: row.enabled ? (row.held ?? state?.status ?? "configuring") : ("stopped" as const),
      error: row.held === "error" ? row.held_reason : (state?.error ?? null),
      tools: all.filter(isReady).length,
      waiting: all.filter(isWaiting).length,
    };
    store.write(({ emit }) => emit(mcpServerChanged, { user_id: ADMINISTRATORS, data }));
  }
  const runSafely = (id: string, act: () => void): void => {
    try {
      act();
    } catch (err) {
      log.error({ err, server: id }, "a tool server's state could not be written");
    }
  };
  const readTo = (one: Running, all: readonly ToolRow[]): void => {
    one.tools = all
      .filter(isReady)
      .map((tool) => ({ server: one.row, tool, name: agentToolName(one.row.id, tool.name) }));
  };
  function begin(row: ServerRow): void {
    const { id } = row;
    const before = ending.get(id) ?? Promise.resolve();
    const supervised = supervise({
      async connect(signal, onToolsChanged) {
        await before;
        // The row is read again: tokens and secrets may have changed since the last start.
        return deps.connect(rows.find(id) ?? row, signal, onToolsChanged);
      },
      onTools(tools) {
        const read = readTools(tools, (why) => logs.write(id, "skep", why));
        const all = rows.record(id, read);
        readTo(one, all);
        for (const { name, problem } of all)
          if (problem !== null) logs.write(id, "skep", `The tool ${name} cannot be used: ${problem}`);
        const waiting = all.filter(isWaiting).map(({ name }) => name);
        if (waiting.length > 0)
          logs.write(id, "skep", `New or changed, and waiting for approval: ${waiting.join(", ").slice(0, 1_000)}.`);
        runSafely(id, () => publish(id));
      },
      onChange: () => {
        logs.flush(id);
        runSafely(id, () => publish(id));
      },
      log: (text) => logs.write(id, "skep", text),
      pauseMs: deps.pauseMs,
    });
    const one: Running = { row, supervised, tools: [] };
    running.set(id, one);
  }
  function end(id: string): Promise<void> {
    const one = running.get(id);
    running.delete(id);
    if (!one) return ending.get(id) ?? Promise.resolve();
    const done = one.supervised
      .stop()
      .catch((err) => log.warn({ err, server: id }, `a tool server could not be ended: ${messageOf(err)}`))
      .finally(() => {
        if (ending.get(id) === done) ending.delete(id);
      });
    ending.set(id, done);
    return done;
  }
  function sync(id: string, reread = false): void {
    if (!isOn) return;
    const row = rows.find(id);
    const one = running.get(id);
    if (one && (!isWanted(row) || reread || toFingerprint(row) !== toFingerprint(one.row))) void end(id);
    if (!isWanted(row)) return runSafely(id, () => publish(id));
    const now = running.get(id);
    if (!now) return begin(row);
    now.row = row;
    readTo(now, rows.listTools(id));
    runSafely(id, () => publish(id));
  }
  const find = (id: string): Running => {
    const one = running.get(id);
    if (!one) throw unavailable("mcp_not_running", `The tool server ${id} is not running.`);
    return one;
  };
  const isUp = ({ supervised }: Running) => supervised.state.status === "running";

  return {
    /** Undefined when the server should not run. */
    stateOf: (id: string): ServerState | undefined => running.get(id)?.supervised.state,
    /** Starts, stops or restarts the server as its row says now. A change of its grants alone does not restart it. */
    sync: (id: string) => sync(id),
    /** Restarts the server if it should run. */
    restart: (id: string) => sync(id, true),
    /** Stops the server for good. @returns once it is gone. */
    remove: end,
    /** Reads again which of the server's tools are approved. */
    reloadApproved(id: string): void {
      const one = running.get(id);
      if (one) readTo(one, rows.listTools(id));
      runSafely(id, () => publish(id));
    },
    refresh: (id: string) => find(id).supervised.refresh(),
    /** Tools that can be called now: those of one agent, or all. */
    tools: (agentId?: string): ReadyTool[] =>
      [...running.values()]
        .filter(isUp)
        .filter(
          ({ row: { agents } }) => agentId === undefined || agents.includes(EVERY_AGENT) || agents.includes(agentId),
        )
        .sort((a, b) => a.row.id.localeCompare(b.row.id))
        .flatMap(({ tools }) => tools),
    call: ({ server, tool }: ReadyTool, args: Record<string, unknown>, options: CallOptions): Promise<CallResult> =>
      find(server.id).supervised.call({ name: tool.name, inputSchema: tool.offered.input_schema }, args, options),
    start(): void {
      isOn = true;
      for (const row of rows.all()) if (isWanted(row)) begin(row);
    },
    async stop(): Promise<void> {
      isOn = false;
      await Promise.all([...running.keys()].map(end).concat([...ending.values()]));
    },
  };
}
