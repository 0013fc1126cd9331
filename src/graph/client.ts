/**
 * The graph as the server sees it: calls that are answered by child processes. Questions go to one long-lived child,
 * index jobs to a child of their own, so that a job never keeps a question waiting. A child that crashes, hangs or
 * grows over its bound is killed and the call tried once more in a fresh one; the stored graph is never harmed, since a
 * new one is swapped in only when whole.
 */
import { readFileSync } from "node:fs";
import type { IndexReport, PhaseReport } from "./indexer.ts";
import type { GraphOperation, GraphReply, GraphRequest } from "./protocol.ts";
import { GraphError, type GraphSession } from "./session.ts";

export interface GraphClientLimits {
  /** Longest a question may take. */
  questionTimeoutMs: number;
  /** Longest an index may go without moving a phase. */
  stallTimeoutMs: number;
  /** Resident bytes of a child. */
  memoryBytes: number;
  /** A child that was not asked for so long is stopped. */
  idleMs: number;
}

export const DEFAULT_GRAPH_LIMITS: GraphClientLimits = {
  questionTimeoutMs: 30_000,
  stallTimeoutMs: 180_000,
  memoryBytes: 3 * 1024 * 1024 * 1024,
  idleMs: 5 * 60_000,
};

type Remote<T> = T extends (...args: infer Args) => infer Result ? (...args: Args) => Promise<Awaited<Result>> : never;

/** A project's graph; every call may throw GraphError, or Error when the worker failed twice. */
export interface RemoteGraph {
  index(options: {
    force: boolean;
    progress?: (phases: readonly PhaseReport[]) => void;
    signal?: AbortSignal;
  }): Promise<IndexReport>;
  status: Remote<GraphSession["status"]>;
  query: Remote<GraphSession["query"]>;
  context: Remote<GraphSession["context"]>;
  impact: Remote<GraphSession["impact"]>;
  changes: Remote<GraphSession["changes"]>;
  cypher: Remote<GraphSession["cypher"]>;
  graphData: Remote<GraphSession["graphData"]>;
  communities: Remote<GraphSession["communities"]>;
  processes: Remote<GraphSession["processes"]>;
}

export interface GraphClient {
  /** @param root absolute path of the repository; @param store folder of its graph */
  project(root: string, store: string): RemoteGraph;
  /** Process ids of the children that run now. */
  pids(): number[];
  /** Ends all children. Calls under way fail. */
  close(): void;
}

export interface GraphClientOptions {
  /** Command line of a graph worker, e.g. [process.execPath, "graph-worker"]. */
  command: readonly string[];
  limits?: Partial<GraphClientLimits>;
  /** Environment of the children; nothing of the parent's is passed on otherwise. */
  env?: Record<string, string>;
  /** Told why a child was killed or ended, for the log. */
  onRestart?: (reason: string) => void;
}

interface Call {
  request: GraphRequest;
  resolve(value: unknown): void;
  reject(error: Error): void;
  progress: ((phases: readonly PhaseReport[]) => void) | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  timeoutMs: number;
}

/** The child died under a call: worth one more try. */
class WorkerLost extends Error {}

const MEMORY_CHECK_MS = 1_000;
const PAGE_BYTES = 4096;

class Child {
  readonly calls = new Map<number, Call>();
  private readonly process: Bun.Subprocess;
  private readonly watch: ReturnType<typeof setInterval>;
  private lastUsed = Date.now();
  alive = true;

  constructor(options: GraphClientOptions, limits: GraphClientLimits, onEnd: (child: Child) => void) {
    this.process = Bun.spawn([...options.command], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
      env: options.env ?? {},
      ipc: (message: GraphReply) => this.receive(message),
      onExit: (_, code, signal) => this.end(`graph worker ended (${signal ?? code})`, onEnd, options),
    });
    this.watch = setInterval(
      () => {
        if (residentBytes(this.process.pid) > limits.memoryBytes) this.kill("graph worker over its memory bound");
        else if (this.calls.size === 0 && Date.now() - this.lastUsed > limits.idleMs) this.kill("");
      },
      Math.min(MEMORY_CHECK_MS, limits.idleMs),
    );
    this.watch.unref();
    this.process.unref();
  }

  get pid(): number {
    return this.process.pid;
  }

  private reason = "";

  kill(reason: string): void {
    this.reason ||= reason;
    this.process.kill("SIGKILL");
  }

  private end(reason: string, onEnd: (child: Child) => void, options: GraphClientOptions): void {
    if (!this.alive) return;
    this.alive = false;
    clearInterval(this.watch);
    if (this.calls.size > 0 || this.reason) options.onRestart?.(this.reason || reason);
    for (const call of this.calls.values()) {
      clearTimeout(call.timer);
      call.reject(new WorkerLost(this.reason || reason));
    }
    this.calls.clear();
    onEnd(this);
  }

  ask(call: Call): void {
    this.lastUsed = Date.now();
    this.calls.set(call.request.id, call);
    this.arm(call);
    this.process.send(call.request);
  }

  private arm(call: Call): void {
    clearTimeout(call.timer);
    call.timer = setTimeout(
      () => this.kill(`graph worker did not answer ${call.request.operation} in time`),
      call.timeoutMs,
    );
  }

  private receive(message: GraphReply): void {
    const call = this.calls.get(message.id);
    if (!call) return;
    this.lastUsed = Date.now();
    if (message.kind === "progress") {
      this.arm(call);
      call.progress?.(message.phases);
      return;
    }
    clearTimeout(call.timer);
    this.calls.delete(message.id);
    if (message.kind === "value") call.resolve(message.value);
    else if (message.code === "failed") call.reject(new Error(message.message));
    else call.reject(new GraphError(message.code as GraphError["code"], message.message));
  }
}

/** Resident bytes of a process; 0 where the system does not tell. */
function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES;
  } catch {
    return 0;
  }
}

export function createGraphClient(options: GraphClientOptions): GraphClient {
  const limits = { ...DEFAULT_GRAPH_LIMITS, ...options.limits };
  const children = new Set<Child>();
  let questions: Child | undefined;
  let nextId = 1;
  let closed = false;
  let indexing: Promise<unknown> = Promise.resolve();

  function spawn(): Child {
    if (closed) throw new Error("the graph client is closed");
    const child = new Child(options, limits, (ended) => {
      children.delete(ended);
      if (questions === ended) questions = undefined;
    });
    children.add(child);
    return child;
  }

  function send(
    child: Child,
    root: string,
    store: string,
    operation: GraphOperation,
    args: readonly unknown[],
    progress?: Call["progress"],
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timeoutMs = operation === "index" ? limits.stallTimeoutMs : limits.questionTimeoutMs;
      child.ask({
        request: { id: nextId++, operation, root, store, args },
        resolve,
        reject,
        progress,
        timer: undefined,
        timeoutMs,
      });
    });
  }

  async function twice<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof WorkerLost) || closed) throw error;
      return await attempt();
    }
  }

  function ask(root: string, store: string, operation: GraphOperation, args: readonly unknown[]): Promise<unknown> {
    return twice(() => {
      questions ??= spawn();
      return send(questions, root, store, operation, args);
    });
  }

  async function runIndex(
    root: string,
    store: string,
    force: boolean,
    progress: Call["progress"],
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    return twice(async () => {
      signal?.throwIfAborted();
      const child = spawn();
      const stop = () => child.kill("index job cancelled");
      signal?.addEventListener("abort", stop, { once: true });
      try {
        return await send(child, root, store, "index", [force], progress);
      } finally {
        signal?.removeEventListener("abort", stop);
        child.kill("");
      }
    });
  }

  return {
    project(root, store) {
      const call =
        (operation: GraphOperation) =>
        (...args: unknown[]) =>
          ask(root, store, operation, args);
      const remote: Record<string, unknown> = {
        index({ force, progress, signal }: Parameters<RemoteGraph["index"]>[0]) {
          // One index at a time: its memory is bounded for the machine, not for the project.
          const job = indexing.then(() => runIndex(root, store, force, progress, signal));
          indexing = job.catch(() => undefined);
          return job;
        },
      };
      for (const operation of [
        "status",
        "query",
        "context",
        "impact",
        "changes",
        "cypher",
        "graphData",
        "communities",
        "processes",
      ] as const)
        remote[operation] = call(operation);
      return remote as unknown as RemoteGraph;
    },
    pids: () => [...children].map((child) => child.pid),
    close() {
      closed = true;
      for (const child of children) child.kill("");
    },
  };
}
