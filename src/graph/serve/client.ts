/**
 * The graph as the server sees it: calls that child processes answer. Questions go to one long-lived child. Each query
 * in Cypher has a process to itself while it runs, and each index job has its own child, so that neither delays
 * questions. A child that crashes, hangs or exceeds its memory limit is killed, and the call is tried once more in a
 * new child. The stored graph is safe: an index replaces it only when complete.
 */
import { unavailable } from "../../core/errors.ts";
import { WorkerLost, WorkerProcess, type WorkerSetup } from "../../process/worker-process.ts";
import { GraphError } from "../graph-error.ts";
import type { PhaseReport } from "../index/phases.ts";
import { findRefusal } from "../query/cypher-guard.ts";
import type { ScipIndexReport } from "../scip/take-in.ts";
import type { GraphOperation, GraphReply } from "./protocol.ts";
import { createQueryPool } from "./query-pool.ts";
import type { GraphPlace, GraphSession, GraphStatus } from "./session.ts";
import { type Asked, askWorker, type GraphJson, type GraphWorker } from "./worker-calls.ts";

export type { GraphJson } from "./worker-calls.ts";

export interface GraphClientLimits {
  /** Longest time that a question may take. */
  questionTimeoutMs: number;
  /** Longest time that a query in Cypher may take. The database itself stops most queries after 10 s. */
  queryTimeoutMs: number;
  /** Longest time without progress of an index job. */
  stallTimeoutMs: number;
  /** Limit of a child's resident memory, bytes. */
  memoryBytes: number;
  /** Limit of the resident memory of a process that runs a query in Cypher, bytes. */
  queryMemoryBytes: number;
  /** A child that is idle for this long is stopped. */
  idleMs: number;
  /** After the last of several edits, this long passes before they are written to disk. */
  writeMs: number;
}

const DEFAULT_GRAPH_LIMITS: GraphClientLimits = {
  questionTimeoutMs: 30_000,
  queryTimeoutMs: 12_000,
  stallTimeoutMs: 180_000,
  memoryBytes: 3 * 1024 * 1024 * 1024,
  queryMemoryBytes: 1.5 * 1024 * 1024 * 1024,
  idleMs: 5 * 60_000,
  writeMs: 3_000,
};

const MEMORY_CHECK_MS = 1_000;
/** Queries are checked often, as one can fill a gigabyte in a second. */
const QUERY_MEMORY_CHECK_MS = 50;

/**
 * For a child that answers questions: the garbage collector assumes a machine with this many bytes of memory, and so
 * collects earlier.
 */
const COLLECT_EARLY = { BUN_JSC_forceRAMSize: String(400 * 1024 * 1024) };

/**
 * For an index job: garbage is collected whenever memory has grown by 15 %, mostly among new objects. Resolution leaves
 * much garbage between the results that it keeps. Early collection saved a third of an index's peak memory and cost no
 * time.
 */
const INDEXING = {
  BUN_JSC_forceRAMSize: String(64 * 1024 * 1024),
  BUN_JSC_largeHeapGrowthFactor: "1.15",
  BUN_JSC_minEdenToOldGenerationRatio: "0.06",
};

type Remote<T> = T extends (...args: infer Args) => infer Result ? (...args: Args) => Promise<Awaited<Result>> : never;

/** Operations whose endpoints pass on the worker's answer unchanged. */
const QUESTIONS = [
  "query",
  "context",
  "related",
  "impact",
  "ask",
  "changes",
  "graphData",
  "graphColumns",
  "communities",
  "processes",
] as const satisfies readonly GraphOperation[];
type Question = (typeof QUESTIONS)[number];

/** A project's graph. Every call may throw GraphError, or Problem 503 if the worker failed twice. */
export interface RemoteGraph {
  /** Rejects with the signal's reason when it is aborted. The existing graph then stays. */
  index(options: {
    force: boolean;
    progress?: ((phases: readonly PhaseReport[]) => void) | undefined;
    signal?: AbortSignal | undefined;
    /** Folder of another graph of the same sources. The index starts from it if there is no graph yet. */
    seed?: string | undefined;
    /** Path in the sources of a SCIP index to import, from the set-up. */
    scip?: string | undefined;
    /** Whether to prepare what questions will need. True by default. */
    prepare?: boolean | undefined;
    /**
     * The last `status` found the edits: files are not looked at again, and clusters, flows and the write to disk
     * follow later.
     */
    looked?: boolean | undefined;
  }): Promise<ScipIndexReport>;
  /** The text with which an agent's tool answers. */
  tool(name: string, args: Readonly<Record<string, unknown>>): Promise<string>;
  status: Remote<GraphSession["status"]>;
  /** Runs a query in Cypher. @throws GraphError also if the query takes too long or too much memory */
  cypher(...args: Parameters<GraphSession["cypher"]>): Promise<GraphJson>;
  /**
   * Questions whose answers the worker turns into JSON. Doing that for large answers would block the server's event
   * loop.
   */
  json: { [Name in Question]: (...args: Parameters<GraphSession[Name]>) => Promise<GraphJson> };
}

type Around = <T>(ask: () => Promise<T>) => Promise<T>;

export interface GraphClient {
  /** @param around calls the function that asks a question for the API, and may call it again */
  project(place: GraphPlace, around?: Around): RemoteGraph;
  /** Process ids of the children that run now. */
  pids(): number[];
  /** Ends all children and waits until they have ended. Running calls fail. */
  close(): Promise<void>;
}

interface GraphClientOptions {
  /** Command line of a graph worker, e.g. [process.execPath, "graph-worker"]. */
  command: readonly string[];
  limits?: Partial<GraphClientLimits>;
  /** Environment of the children. Nothing of the parent's environment is passed on. */
  env?: Record<string, string>;
  /** Called with the reason when a child was killed or ended unexpectedly, for the log. */
  onRestart?: (reason: string) => void;
}

type Bounds = Pick<WorkerSetup, "memoryBytes" | "memoryCheckMs">;

interface IndexRun {
  report: ScipIndexReport;
  /** Whether the graph that answers questions already has the result. */
  isOpen: boolean;
  /** Settles when the child has nothing left to do. */
  settled: Promise<unknown>;
}

/**
 * @returns a function that runs work one after another for each store. Work for different stores runs at the same time.
 */
function createStoreTurns() {
  /** The work that is running or waiting, by store. */
  const indexing = new Map<string, Promise<unknown>>();
  /** @param settled waits for the rest of the work that a result started; the next work begins after it */
  return <T>(store: string, work: () => Promise<T>, waitForRest?: (result: T) => unknown): Promise<T> => {
    const run = Promise.resolve(indexing.get(store)).then(work);
    const over = run.then((result) => waitForRest?.(result)).catch(() => undefined);
    indexing.set(store, over);
    void over.then(() => {
      if (indexing.get(store) === over) indexing.delete(store);
    });
    return run;
  };
}

interface LateWritesDeps {
  /** The child that holds the edits in memory. */
  worker(): GraphWorker | undefined;
  inTurn: ReturnType<typeof createStoreTurns>;
  limits: Pick<GraphClientLimits, "writeMs" | "stallTimeoutMs">;
}

/** Writes edits from memory to disk once no further edit has followed for a while. */
function createLateWrites({ worker, inTurn, limits }: LateWritesDeps) {
  /** Timers of writes that are due, by store. */
  const unwritten = new Map<string, ReturnType<typeof setTimeout>>();
  function forget({ store }: GraphPlace): void {
    clearTimeout(unwritten.get(store));
    unwritten.delete(store);
  }
  /** Writes the edits after running work. If they are lost, the next look at the files finds them again. */
  function writeNow(place: GraphPlace): Promise<unknown> {
    if (!unwritten.has(place.store)) return Promise.resolve();
    forget(place);
    const child = worker();
    if (!child) return Promise.resolve();
    const asked: Asked = { operation: "write", args: [], timeoutMs: limits.stallTimeoutMs };
    return inTurn(place.store, () => askWorker(child, place, asked).catch(() => undefined));
  }
  return {
    forget,
    writeNow,
    later(place: GraphPlace): void {
      const timer = setTimeout(() => void writeNow(place), limits.writeMs);
      timer.unref();
      unwritten.set(place.store, timer);
    },
    stop(): void {
      for (const timer of unwritten.values()) clearTimeout(timer);
    },
  };
}

async function retryOnce<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof WorkerLost)) throw error;
    return await attempt().catch((again: unknown) => {
      throw again instanceof WorkerLost ? createProblem(again.message) : again;
    });
  }
}

export function createGraphClient(options: GraphClientOptions): GraphClient {
  const limits = { ...DEFAULT_GRAPH_LIMITS, ...options.limits };
  const children = new Set<GraphWorker>();
  let questions: GraphWorker | undefined;
  let closed = false;
  /** Stores for which a separate process is making an index. */
  const wholes = new Set<string>();
  const inTurn = createStoreTurns();
  const writes = createLateWrites({ worker: () => questions, inTurn, limits });

  function spawn(tuning: Readonly<Record<string, string>>, bounds: Bounds): GraphWorker {
    if (closed) throw createProblem("the server stops");
    const { command, env } = options;
    const setup = { name: "graph worker", command, env: { ...env, ...tuning }, idleMs: limits.idleMs, ...bounds };
    const child = new WorkerProcess<GraphReply>(setup, (ended, reason) => {
      if (reason) options.onRestart?.(reason);
      children.delete(ended);
      queries.forget(ended);
      if (questions === ended) questions = undefined;
    });
    children.add(child);
    return child;
  }
  const bounds: Bounds = { memoryBytes: limits.memoryBytes, memoryCheckMs: MEMORY_CHECK_MS };
  const queries = createQueryPool({
    timeoutMs: limits.queryTimeoutMs,
    prepareTimeoutMs: limits.stallTimeoutMs,
    keptBytes: limits.queryMemoryBytes / 2,
    spawn: () => spawn(COLLECT_EARLY, { memoryBytes: limits.queryMemoryBytes, memoryCheckMs: QUERY_MEMORY_CHECK_MS }),
  });

  function ask(place: GraphPlace, operation: GraphOperation, args: readonly unknown[] = [], json?: true) {
    return retryOnce(() => {
      questions ??= spawn(COLLECT_EARLY, bounds);
      const asked: Asked = { operation, args, timeoutMs: limits.questionTimeoutMs };
      return askWorker(questions, place, json ? { ...asked, json } : asked);
    });
  }

  function runCypher(place: GraphPlace, args: Parameters<GraphSession["cypher"]>): Promise<GraphJson> {
    // Checked before the query gets a process, so that a refused query costs nothing.
    const refused = findRefusal(args[0]);
    if (refused) return Promise.reject(new GraphError("invalid", refused));
    // The query's process reads the graph on disk. If an index job is running, its newer graph is not waited for.
    const written = wholes.has(place.store) ? Promise.resolve() : writes.writeNow(place);
    return written.then(() => queries.ask(place, args));
  }

  /** Opens a new index in the process that answers questions. If that fails, the next question reports the error. */
  async function warm(place: GraphPlace): Promise<void> {
    const isAnswering = questions !== undefined;
    const opened = ask(place, "warm").catch(() => undefined);
    // A running child must not go on answering from the old graph. A child that is starting opens the new graph anyway.
    if (isAnswering) await opened;
  }

  /** Applies an edit of a few files to the graph in memory, if a child that answers questions is running. */
  async function takeEdit(place: GraphPlace, options: Parameters<RemoteGraph["index"]>[0]) {
    const { force, scip, prepare, looked = false, signal } = options;
    const child = questions;
    if (!child || force || scip !== undefined || prepare === false) return undefined;
    signal?.throwIfAborted();
    const timeoutMs = limits.stallTimeoutMs;
    try {
      const report = await askReport(child, place, { operation: "edit", args: [looked], timeoutMs });
      if (!report) return undefined;
      writes.forget(place);
      if (looked) writes.later(place);
      else await askWorker(child, place, { operation: "write", args: [], timeoutMs });
      signal?.throwIfAborted();
      options.progress?.(report.phases);
      return report;
    } catch (error) {
      if (error instanceof WorkerLost) return undefined;
      throw error;
    }
  }

  async function runIndex(place: GraphPlace, options: Parameters<RemoteGraph["index"]>[0]): Promise<IndexRun> {
    const { force, seed, scip, signal, progress, prepare = true } = options;
    return retryOnce(async () => {
      signal?.throwIfAborted();
      const child = spawn(INDEXING, bounds);
      const stop = () => child.kill("index job cancelled");
      signal?.addEventListener("abort", stop, { once: true });
      try {
        const { stallTimeoutMs: timeoutMs } = limits;
        const asked: Asked = { operation: "index", args: [force, seed, scip], timeoutMs, progress };
        const report = await askReport(child, place, asked);
        if (!report) throw new Error("an index ended without a report");
        // The database is made now, so that the first query in Cypher does not wait for it. That query also reports an
        // error.
        const rest =
          report.changed && prepare
            ? askWorker(child, place, { operation: "prepareCypher", args: [], timeoutMs }).catch(() => undefined)
            : undefined;
        return { report, isOpen: false, settled: Promise.resolve(rest).finally(() => child.kill("")) };
      } catch (error) {
        child.kill("");
        // Whoever canceled the job may remove its folder now. The child must not create the folder again after that.
        await child.exited;
        throw signal?.aborted ? signal.reason : error;
      } finally {
        signal?.removeEventListener("abort", stop);
      }
    });
  }

  return {
    project(place, around = (ask) => ask()) {
      return {
        async index(options) {
          const editOrIndex = async (): Promise<IndexRun> => {
            const report = await takeEdit(place, options);
            if (report) return { report, isOpen: true, settled: Promise.resolve() };
            wholes.add(place.store);
            try {
              return await runIndex(place, options);
            } finally {
              wholes.delete(place.store);
            }
          };
          const { report, isOpen } = await inTurn(place.store, editOrIndex, ({ settled }) => settled);
          if (!isOpen) writes.forget(place);
          if (report.changed && !isOpen && options.prepare !== false) await warm(place);
          return report;
        },
        status: () => ask(place, "status") as Promise<GraphStatus>,
        tool: (...args) => ask(place, "tool", args) as Promise<string>,
        cypher: (...args) => around(() => runCypher(place, args)),
        json: Object.fromEntries(
          QUESTIONS.map((operation) => [
            operation,
            (...args: unknown[]) => around(() => ask(place, operation, args, true)),
          ]),
        ) as RemoteGraph["json"],
      };
    },
    pids: () => [...children].map((child) => child.pid),
    async close() {
      closed = true;
      writes.stop();
      const all = [...children];
      for (const child of all) child.kill("");
      await Promise.all(all.map((child) => child.exited));
    },
  };
}

/** Runs an index or edit. @returns undefined if an edit needs a whole index */
const askReport = async (worker: GraphWorker, place: GraphPlace, asked: Asked) =>
  (await askWorker(worker, place, asked)) as ScipIndexReport | undefined;

const createProblem = (why: string) =>
  unavailable("graph_unavailable", `The code graph cannot answer (${why}). Try again; the log has more.`);
