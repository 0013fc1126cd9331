/**
 * Keeps one tool server running: connects, lists its tools, and restarts it with growing pauses when it ends. Its tools
 * are available only while it answers.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { CallOptions, Connection } from "../../adapter/mcp/client.ts";
import { isProblem, messageOf, unavailable } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ServerStatus } from "./model.ts";

export interface ServerState {
  status: Exclude<ServerStatus, "stopped">;
  error: string | null;
  needsAuthorization: boolean;
  protocol: string | null;
}

export interface SupervisedPorts {
  connect(signal: AbortSignal, onToolsChanged: () => void): Promise<Connection>;
  /** Receives the server's current list of tools. */
  onTools(tools: readonly unknown[]): void;
  /** Called after each change. */
  onChange(): void;
  log(text: string): void;
  /** First pause before it is started again, ms; doubled each time up to LIMITS.mcpRestartMs. */
  pauseMs: number;
}

export type CallResult = Awaited<ReturnType<Connection["callTool"]>>;

export type Supervised = ReturnType<typeof supervise>;

/** Number of consecutive unanswered calls after which the server is restarted. */
const SILENT_CALLS = 2;
/** Error codes of calls after which the connection is unusable. */
const LOST = new Set(["mcp_call_failed", "authorization_needed"]);
/** A server that ran this long is healthy: its next pause is the first, shortest one again. */
const HEALTHY_MS = 60_000;

export function supervise(ports: SupervisedPorts) {
  const over = new AbortController();
  let state: ServerState = { status: "configuring", error: null, needsAuthorization: false, protocol: null };
  let connection: Connection | undefined;
  let silent = 0;
  let listing: Promise<void> = Promise.resolve();

  const set = (next: Partial<ServerState>): void => {
    state = { ...state, ...next };
    if (!over.signal.aborted) ports.onChange();
  };
  /**
   * Lists the tools. Calls run one after another, so the last answer counts; each caller waits for its own list and
   * sees only its own error.
   */
  const list = (from: Connection): Promise<void> => {
    const next = listing.then(async () => {
      const tools = await from.listTools(over.signal);
      if (connection === from) ports.onTools(tools);
    });
    listing = next.catch(() => {});
    return next;
  };
  const relist = (): void => {
    const from = connection;
    if (!from || state.status !== "running") return;
    list(from).catch((error) => ports.log(`Its tools could not be listed again: ${messageOf(error)}`));
  };

  /** Runs the server once, from its start to its end. @returns why it ended. */
  async function runOnce(): Promise<string> {
    const opened = await ports.connect(over.signal, relist);
    connection = opened;
    try {
      await list(opened);
      silent = 0;
      const name = opened.server ? `${opened.server.name} ${opened.server.version}` : "the server";
      ports.log(`Connected: ${name}, protocol ${opened.revision}.`);
      set({ status: "running", error: null, needsAuthorization: false, protocol: opened.revision });
      return await opened.ended;
    } finally {
      connection = undefined;
      await opened.close();
    }
  }
  async function run(): Promise<void> {
    let pause = ports.pauseMs;
    while (!over.signal.aborted) {
      const begun = performance.now();
      let needsAuthorization = false;
      const why = await runOnce().catch((error) => {
        needsAuthorization = isProblem(error) && error.code === "authorization_needed";
        return wordsOf(error);
      });
      if (over.signal.aborted) return;
      if (performance.now() - begun > HEALTHY_MS) pause = ports.pauseMs;
      const next = needsAuthorization ? "" : ` It is started again in ${Math.ceil(pause / 1_000)} s.`;
      ports.log(`Not running: ${why}.${next}`);
      set({ status: "error", error: toSentence(why), needsAuthorization, protocol: null });
      // Frequent tries do not help a server that needs a login.
      await sleep(needsAuthorization ? LIMITS.mcpRestartMs : pause, undefined, { signal: over.signal }).catch(() => {});
      if (over.signal.aborted) return;
      pause = Math.min(pause * 2, LIMITS.mcpRestartMs);
      set({ status: "configuring" });
    }
  }
  const running = run();

  const requireConnection = (): Connection => {
    if (connection && state.status === "running") return connection;
    throw unavailable("mcp_not_running", state.error ?? "The tool server is being started.");
  };
  return {
    get state() {
      return state;
    },
    /** @throws Problem 503 when the server does not run now, 502, 504. */
    async call(
      definition: Parameters<Connection["callTool"]>[0],
      args: Record<string, unknown>,
      options: CallOptions,
    ): Promise<CallResult> {
      const to = requireConnection();
      try {
        const result = await to.callTool(definition, args, options);
        silent = 0;
        return result;
      } catch (error) {
        const code = isProblem(error) ? error.code : "";
        if (code === "scope_needed") set({ needsAuthorization: true });
        silent = code === "mcp_timeout" ? silent + 1 : 0;
        if (silent >= SILENT_CALLS) ports.log(`It left ${silent} calls without an answer and is started again.`);
        // A connection that stopped answering is closed: agents do not get the server's tools until it answers again.
        if (connection === to && (silent >= SILENT_CALLS || LOST.has(code))) void to.close();
        throw error;
      }
    },
    /** Asks for the list of tools again. @throws Problem 503 when the server does not run now, 502. */
    refresh: () => list(requireConnection()),
    /** Stops the server. @returns once it is gone. */
    async stop(): Promise<void> {
      over.abort();
      await connection?.close();
      await running;
    },
  };
}

const wordsOf = (error: unknown): string => (isProblem(error) ? error.detail : messageOf(error)).slice(0, 1_000);
const toSentence = (text: string): string => {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
};
