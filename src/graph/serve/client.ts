/**
 * The graph as the server sees it: calls that are answered by child processes. Questions go to one long-lived child,
 * queries in Cypher to processes where each is alone, index jobs to a child of their own, so that neither a job nor a
 * query keeps a question waiting. A child that crashes, hangs or grows over its bound is killed and the call tried once
 * more in a fresh one; the stored graph is never harmed, since a new one is swapped in only when whole.
 */
import { unavailable } from "../../core/errors.ts";
import { WorkerLost, WorkerProcess, type WorkerSetup } from "../../process/worker-process.ts";
import { GraphError } from "../graph-error.ts";
import type { PhaseReport } from "../index/phases.ts";
import { refusal } from "../query/cypher-guard.ts";
import type { ScipIndexReport } from "../scip/take-in.ts";
import type { GraphOperation, GraphReply } from "./protocol.ts";
import { createQueryPool } from "./query-pool.ts";
import type { GraphPlace, GraphSession, GraphStatus } from "./session.ts";
import { type Asked, askWorker, type GraphJson, type GraphWorker } from "./worker-calls.ts";

export type { GraphJson } from "./worker-calls.ts";

export interface GraphClientLimits {
  /** Longest a question may take. */
  questionTimeoutMs: number;
  /** Longest a query in Cypher may take; the database stops most after 10 s by itself. */
  queryTimeoutMs: number;
  /** Longest an index may go without moving a phase. */
  stallTimeoutMs: number;
  /** Resident bytes of a child. */
  memoryBytes: number;
  /** Resident bytes of a process that works on a query in Cypher. */
  queryMemoryBytes: number;
  /** A child that is idle for this long is stopped. */
  idleMs: number;
  /** How long after the last of several edits the disk gets them. */
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
/** A query can fill a gigabyte in a second. */
const QUERY_MEMORY_CHECK_MS = 50;

/**
 * The collector of a child that answers questions takes the machine for one with so many bytes, and so lets less
 * garbage pile up.
 */
const COLLECT_EARLY = { BUN_JSC_forceRAMSize: String(400 * 1024 * 1024) };

/**
 * An index collects garbage after each 15 % that its memory grew by, and mostly the new part of it. Resolution leaves
 * much garbage between what it remembers: collected late, it took a third of the memory at the peak of an index, and
 * no less time.
 */
const INDEXING = {
  BUN_JSC_forceRAMSize: String(64 * 1024 * 1024),
  BUN_JSC_largeHeapGrowthFactor: "1.15",
  BUN_JSC_minEdenToOldGenerationRatio: "0.06",
};

type Remote<T> = T extends (...args: infer Args) => infer Result ? (...args: Args) => Promise<Awaited<Result>> : never;

/** Operations whose endpoints pass on the worker's answer. */
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

/** A project's graph; every call may throw GraphError, or Problem 503 when the worker failed twice. */
export interface RemoteGraph {
  /** Rejects with the signal's reason when it is aborted; the old graph then stands. */
  index(options: {
    force: boolean;
    progress?: ((phases: readonly PhaseReport[]) => void) | undefined;
    signal?: AbortSignal | undefined;
    /** Folder of another graph of the same sources, to start from when there is none yet. */
    seed?: string | undefined;
    /** Path in the sources of a SCIP index to take in, from the set-up. */
    scip?: string | undefined;
    /** Makes ready what questions need before they come; not when false. */
    prepare?: boolean | undefined;
    /** The last status found what to index: files are not looked at again, and clusters, flows and the disk follow later. */
    looked?: boolean | undefined;
  }): Promise<ScipIndexReport>;
  /** The text that an agent's tool answers. */
  tool(name: string, args: Readonly<Record<string, unknown>>): Promise<string>;
  status: Remote<GraphSession["status"]>;
  /** Asks in Cypher. @throws GraphError also when the query takes too long or too much memory. */
  cypher(...args: Parameters<GraphSession["cypher"]>): Promise<GraphJson>;
  /** Answers are made into JSON by the worker: large ones would keep the server's event loop from others. */
  json: { [Name in Question]: (...args: Parameters<GraphSession[Name]>) => Promise<GraphJson> };
}

type Around = <T>(ask: () => Promise<T>) => Promise<T>;

export interface GraphClient {
  /** @param around asks a question for the API, and may ask it again */
  project(place: GraphPlace, around?: Around): RemoteGraph;
  /** Process ids of the children that run now. */
  pids(): number[];
  /** Ends all children and waits for them. Calls under way fail. */
  close(): Promise<void>;
}

interface GraphClientOptions {
  /** Command line of a graph worker, e.g. [process.execPath, "graph-worker"]. */
  command: readonly string[];
  limits?: Partial<GraphClientLimits>;
  /** Environment of the children; nothing of the parent's is passed on otherwise. */
  env?: Record<string, string>;
  /** Called with the reason when a child was killed or ended, for the log. */
  onRestart?: (reason: string) => void;
}

type Bounds = Pick<WorkerSetup, "memoryBytes" | "memoryCheckMs">;

interface IndexRun {
  report: ScipIndexReport;
  /** Whether questions are answered from it already. */
  isOpen: boolean;
  /** Settles when the child has nothing left to do. */
  settled: Promise<unknown>;
}

/** @returns what runs work one after another for each store; others go on beside it. */
function createStoreTurns() {
  /** What is under way by store. */
  const indexing = new Map<string, Promise<unknown>>();
  /** @param settled of what came: when all of it is over */
  return <T>(store: string, work: () => Promise<T>, settled?: (result: T) => unknown): Promise<T> => {
    const run = Promise.resolve(indexing.get(store)).then(work);
    const over = run.then((result) => settled?.(result)).catch(() => undefined);
    indexing.set(store, over);
    void over.then(() => {
      if (indexing.get(store) === over) indexing.delete(store);
    });
    return run;
  };
}

interface LateWritesDeps {
  /** The child that holds what edits made. */
  worker(): GraphWorker | undefined;
  inTurn: ReturnType<typeof createStoreTurns>;
  limits: Pick<GraphClientLimits, "writeMs" | "stallTimeoutMs">;
}

/** What edits made in memory is written to the disk once no edit has followed for a while. */
function createLateWrites({ worker, inTurn, limits }: LateWritesDeps) {
  /** By store: when what edits left is done. */
  const unwritten = new Map<string, ReturnType<typeof setTimeout>>();
  function forget({ store }: GraphPlace): void {
    clearTimeout(unwritten.get(store));
    unwritten.delete(store);
  }
  /** Writes what edits made, after what is under way. Where it is lost, the next look at the files finds the edits again. */
  function now(place: GraphPlace): Promise<unknown> {
    if (!unwritten.has(place.store)) return Promise.resolve();
    forget(place);
    const child = worker();
    if (!child) return Promise.resolve();
    const asked: Asked = { operation: "write", args: [], timeoutMs: limits.stallTimeoutMs };
    return inTurn(place.store, () => askWorker(child, place, asked).catch(() => undefined));
  }
  return {
    forget,
    now,
    later(place: GraphPlace): void {
      const timer = setTimeout(() => void now(place), limits.writeMs);
      timer.unref();
      unwritten.set(place.store, timer);
    },
    stop(): void {
      for (const timer of unwritten.values()) clearTimeout(timer);
    },
  };
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

export function createGraphClient(options: GraphClientOptions): GraphClient {
  const limits = { ...DEFAULT_GRAPH_LIMITS, ...options.limits };
  const children = new Set<GraphWorker>();
  let questions: GraphWorker | undefined;
  let closed = false;
  /** Stores of which a process of its own makes an index. */
  const wholes = new Set<string>();
  const inTurn = createStoreTurns();
  const writes = createLateWrites({ worker: () => questions, inTurn, limits });

  function spawn(tuning: Readonly<Record<string, string>>, bounds: Bounds): GraphWorker {
    if (closed) throw lost("the server stops");
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
    return twice(() => {
      questions ??= spawn(COLLECT_EARLY, bounds);
      const asked: Asked = { operation, args, timeoutMs: limits.questionTimeoutMs };
      return askWorker(questions, place, json ? { ...asked, json } : asked);
    });
  }

  function cypher(place: GraphPlace, args: Parameters<GraphSession["cypher"]>): Promise<GraphJson> {
    // Checked before a place is taken: a refused query costs nothing.
    const refused = refusal(args[0]);
    if (refused) return Promise.reject(new GraphError("invalid", refused));
    // Its process reads what is on disk. An index that is under way makes a newer one, which nobody waits for.
    const written = wholes.has(place.store) ? Promise.resolve() : writes.now(place);
    return written.then(() => queries.ask(place, args));
  }

  /** Opens a new index where questions are answered; an error shows when the next one is asked. */
  async function warm(place: GraphPlace): Promise<void> {
    const isAnswering = questions !== undefined;
    const opened = ask(place, "warm").catch(() => undefined);
    // A running child must not answer from the old graph any longer. One that is starting opens the new graph anyway.
    if (isAnswering) await opened;
  }

  /** Where questions are answered anyway, an edit of a few files is taken into what is in memory there. */
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
    return twice(async () => {
      signal?.throwIfAborted();
      const child = spawn(INDEXING, bounds);
      const stop = () => child.kill("index job cancelled");
      signal?.addEventListener("abort", stop, { once: true });
      try {
        const { stallTimeoutMs: timeoutMs } = limits;
        const asked: Asked = { operation: "index", args: [force, seed, scip], timeoutMs, progress };
        const report = await askReport(child, place, asked);
        if (!report) throw new Error("an index ended without a report");
        // Made now, so that the first query in Cypher does not wait for it; an error shows there.
        const rest =
          report.changed && prepare
            ? askWorker(child, place, { operation: "prepareCypher", args: [], timeoutMs }).catch(() => undefined)
            : undefined;
        return { report, isOpen: false, settled: Promise.resolve(rest).finally(() => child.kill("")) };
      } catch (error) {
        child.kill("");
        // Whoever cancelled it may remove its folder now: it must not make that again.
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
          const work = async (): Promise<IndexRun> => {
            const report = await takeEdit(place, options);
            if (report) return { report, isOpen: true, settled: Promise.resolve() };
            wholes.add(place.store);
            try {
              return await runIndex(place, options);
            } finally {
              wholes.delete(place.store);
            }
          };
          const { report, isOpen } = await inTurn(place.store, work, ({ settled }) => settled);
          if (!isOpen) writes.forget(place);
          if (report.changed && !isOpen && options.prepare !== false) await warm(place);
          return report;
        },
        status: () => ask(place, "status") as Promise<GraphStatus>,
        tool: (...args) => ask(place, "tool", args) as Promise<string>,
        cypher: (...args) => around(() => cypher(place, args)),
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

/** Asks for an index. @returns undefined where an edit was to be taken in that is more than that */
const askReport = async (worker: GraphWorker, place: GraphPlace, asked: Asked) =>
  (await askWorker(worker, place, asked)) as ScipIndexReport | undefined;

const lost = (why: string) =>
  unavailable("graph_unavailable", `The code graph cannot answer (${why}). Try again; the log has more.`);
