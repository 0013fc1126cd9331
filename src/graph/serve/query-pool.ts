/**
 * Runs queries in Cypher. Each query has a process to itself while it runs, and each project has one query at a time.
 */
import { unavailable } from "../../core/errors.ts";
import { createWorkerPool } from "../../process/worker-pool.ts";
import { type LostHow, WorkerLost } from "../../process/worker-process.ts";
import { GraphError } from "../graph-error.ts";
import type { GraphReply } from "./protocol.ts";
import type { GraphPlace } from "./session.ts";
import { askWorker, type GraphJson, type GraphWorker } from "./worker-calls.ts";

interface QueryPoolOptions {
  /** Longest time that a query may take in its process. */
  timeoutMs: number;
  /** Longest time for making the database of a graph. */
  prepareTimeoutMs: number;
  /** Limit of an idle process's resident memory, bytes. A process that holds more is replaced. */
  keptBytes: number;
  spawn(): GraphWorker;
}

interface QueryPool {
  /** @throws GraphError if the query is refused, too slow or too large; Problem 503 if too many queries wait */
  ask(place: GraphPlace, args: readonly unknown[]): Promise<GraphJson>;
  /** Must be called when a process has ended. */
  forget(worker: GraphWorker): void;
}

const PROCESSES = 2;
const WAITING = 64;

const FAILURE: Record<LostHow, string> = {
  late: "the query takes too long: ask for less, or start from fewer nodes",
  memory: "the query needs too much memory: ask for less, or start from fewer nodes",
  ended: "the database cannot work on this query: write it more simply",
};

const toProblem = ({ message }: WorkerLost) =>
  unavailable("graph_unavailable", `The graph's database cannot be made (${message}). Try again; the log has more.`);

export function createQueryPool({ timeoutMs, prepareTimeoutMs, keptBytes, spawn }: QueryPoolOptions): QueryPool {
  const pool = createWorkerPool<GraphReply>({
    processes: PROCESSES,
    waiting: WAITING,
    keptBytes,
    spawn,
    busy: () => unavailable("graph_busy", "Too many queries wait for the code graph. Try again in a moment."),
  });

  async function query(worker: GraphWorker, place: GraphPlace, args: readonly unknown[]): Promise<GraphJson> {
    await askWorker(worker, place, { operation: "prepareCypher", args: [], timeoutMs: prepareTimeoutMs }).catch(
      (error: unknown) => {
        throw error instanceof WorkerLost && worker.answered === 0 ? toProblem(error) : error;
      },
    );
    return (await askWorker(worker, place, { operation: "cypher", args, json: true, timeoutMs })) as GraphJson;
  }

  return {
    async ask(place, args) {
      try {
        return await pool.run(place.store, (worker) => query(worker, place, args));
      } catch (error) {
        throw error instanceof WorkerLost ? new GraphError("invalid", FAILURE[error.how]) : error;
      }
    },
    forget: pool.forget,
  };
}
