/**
 * The graph as the server sees it: calls that are answered by child processes. Questions go to one long-lived child,
 * index jobs to a child of their own, so that a job never keeps a question waiting. A child that crashes, hangs or
 * grows over its bound is killed and the call tried once more in a fresh one; the stored graph is never harmed, since a
 * new one is swapped in only when whole.
 */
import { readFileSync } from "node:fs";
import { unavailable } from "../core/errors.ts";
import { GraphError, isGraphErrorCode } from "./graph-error.ts";
import type { IndexReport, PhaseReport } from "./indexer.ts";
import type { GraphOperation, GraphReply, GraphRequest } from "./protocol.ts";
import type { GraphPlace, GraphSession, GraphStatus } from "./session.ts";

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

/**
 * A child's collector takes the machine for one with so many bytes, and so lets less garbage pile up: a third less memory
 * at the peak of an index, in the same time.
 */
const COLLECT_EARLY = { BUN_JSC_forceRAMSize: String(400 * 1024 * 1024) };

/**
 * An index is over before the last tier of compilation has paid for itself, and its compiler takes the cores from the
 * parsing threads: without it an index takes a quarter less time, of small and large repositories alike.
 */
const INDEXING = { ...COLLECT_EARLY, BUN_JSC_useFTLJIT: "0" };

type Remote<T> = T extends (...args: infer Args) => infer Result ? (...args: Args) => Promise<Awaited<Result>> : never;

/** Operations whose endpoints pass on what the worker made. */
const QUESTIONS = [
  "query",
  "context",
  "related",
  "impact",
  "changes",
  "cypher",
  "graphData",
  "communities",
  "processes",
] as const satisfies readonly GraphOperation[];
type Question = (typeof QUESTIONS)[number];

/** An endpoint's answer as JSON. */
export interface GraphJson {
  /** UTF-8, in order. */
  pieces: Uint8Array<ArrayBuffer>[];
  /** Where a list goes on; null at its end. */
  next: number | null;
}

/** A project's graph; every call may throw GraphError, or Problem 503 when the worker failed twice. */
export interface RemoteGraph {
  /** Rejects with the signal's reason when it is aborted; the old graph then stands. */
  index(options: {
    force: boolean;
    progress?: ((phases: readonly PhaseReport[]) => void) | undefined;
    signal?: AbortSignal | undefined;
    /** Folder of another graph of the same sources, to start from when there is none yet. */
    seed?: string | undefined;
    /** Makes ready what questions need before they come; not when false. */
    prepare?: boolean | undefined;
  }): Promise<IndexReport>;
  /** The text that an agent's tool answers. */
  tool(name: string, args: Readonly<Record<string, unknown>>): Promise<string>;
  status: Remote<GraphSession["status"]>;
  /** Answers are made into JSON by the worker: large ones would keep the server's event loop from others. */
  json: { [Name in Question]: (...args: Parameters<GraphSession[Name]>) => Promise<GraphJson> };
}

export interface GraphClient {
  project(place: GraphPlace): RemoteGraph;
  /** Process ids of the children that run now. */
  pids(): number[];
  /** Ends all children and waits for them. Calls under way fail. */
  close(): Promise<void>;
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
  pieces: Uint8Array<ArrayBuffer>[];
}

interface Asked {
  operation: GraphOperation;
  args: readonly unknown[];
  json?: true;
}

/** The child died under a call: worth one more try. */
class WorkerLost extends Error {}

interface IndexRun {
  report: IndexReport;
  /** The child has nothing left to do. */
  settled: Promise<unknown>;
}

const MEMORY_CHECK_MS = 1_000;
const PAGE_BYTES = 4096;

class Child {
  readonly calls = new Map<number, Call>();
  private readonly process: Bun.Subprocess;
  private readonly watch: ReturnType<typeof setInterval>;
  private lastUsed = Date.now();
  alive = true;

  constructor(
    options: GraphClientOptions,
    tuning: Readonly<Record<string, string>>,
    limits: GraphClientLimits,
    onEnd: (child: Child) => void,
  ) {
    this.process = Bun.spawn([...options.command], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
      env: { ...options.env, ...tuning },
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

  get exited(): Promise<unknown> {
    return this.process.exited;
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
    if (message.kind === "json") {
      call.pieces.push(message.bytes);
      if (!message.last) return this.arm(call);
    }
    clearTimeout(call.timer);
    this.calls.delete(message.id);
    if (message.kind === "json") call.resolve({ pieces: call.pieces, next: message.next } satisfies GraphJson);
    else if (message.kind === "value") call.resolve(message.value);
    else if (isGraphErrorCode(message.code)) call.reject(new GraphError(message.code, message.message, message.data));
    else call.reject(new Error(message.message));
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

  function spawn(tuning: Readonly<Record<string, string>>): Child {
    if (closed) throw lost("the server stops");
    const child = new Child(options, tuning, limits, (ended) => {
      children.delete(ended);
      if (questions === ended) questions = undefined;
    });
    children.add(child);
    return child;
  }

  function send(
    child: Child,
    place: GraphPlace,
    { operation, args, json }: Asked,
    progress?: Call["progress"],
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timeoutMs = operation === "index" ? limits.stallTimeoutMs : limits.questionTimeoutMs;
      child.ask({
        request: { id: nextId++, operation, place, args, ...(json ? { json } : {}) },
        resolve,
        reject,
        progress,
        timer: undefined,
        timeoutMs,
        pieces: [],
      });
    });
  }

  async function twice<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof WorkerLost)) throw error;
      return await attempt().catch((again: unknown) => {
        throw again instanceof WorkerLost ? lost(again.message) : again;
      });
    }
  }

  function ask(place: GraphPlace, asked: Asked): Promise<unknown> {
    return twice(() => {
      questions ??= spawn(COLLECT_EARLY);
      return send(questions, place, asked);
    });
  }

  /** Opens what an index has made where questions are answered; a failure shows when one is asked. */
  async function warm(place: GraphPlace): Promise<void> {
    const isAnswering = questions !== undefined;
    const opened = ask(place, { operation: "warm", args: [] }).catch(() => undefined);
    // One that answers must not go on answering of the old graph. One that just starts opens the new one anyway.
    if (isAnswering) await opened;
  }

  async function runIndex(place: GraphPlace, options: Parameters<RemoteGraph["index"]>[0]): Promise<IndexRun> {
    const { force, seed, signal, progress, prepare = true } = options;
    return twice(async () => {
      signal?.throwIfAborted();
      const child = spawn(INDEXING);
      const stop = () => child.kill("index job cancelled");
      signal?.addEventListener("abort", stop, { once: true });
      try {
        const report = (await send(child, place, { operation: "index", args: [force, seed] }, progress)) as IndexReport;
        // Made now and not at the first query in Cypher, which would wait for it; a failure shows there.
        const rest =
          report.changed && prepare
            ? send(child, place, { operation: "prepareCypher", args: [] }).catch(() => undefined)
            : undefined;
        return { report, settled: Promise.resolve(rest).finally(() => child.kill("")) };
      } catch (error) {
        child.kill("");
        throw signal?.aborted ? signal.reason : error;
      } finally {
        signal?.removeEventListener("abort", stop);
      }
    });
  }

  return {
    project(place) {
      return {
        async index(options) {
          // One index at a time: its memory is bounded for the machine, not for the project.
          const run = indexing.then(() => runIndex(place, options));
          indexing = run.then(({ settled }) => settled).catch(() => undefined);
          const { report } = await run;
          if (report.changed && options.prepare !== false) await warm(place);
          return report;
        },
        status: () => ask(place, { operation: "status", args: [] }) as Promise<GraphStatus>,
        tool: (...args) => ask(place, { operation: "tool", args }) as Promise<string>,
        json: Object.fromEntries(
          QUESTIONS.map((operation) => [
            operation,
            (...args: unknown[]) => ask(place, { operation, args, json: true }),
          ]),
        ) as unknown as RemoteGraph["json"],
      };
    },
    pids: () => [...children].map((child) => child.pid),
    async close() {
      closed = true;
      const all = [...children];
      for (const child of all) child.kill("");
      await Promise.all(all.map((child) => child.exited));
    },
  };
}

const lost = (why: string) =>
  unavailable("graph_unavailable", `The code graph cannot answer (${why}). Try again; the log has more.`);
