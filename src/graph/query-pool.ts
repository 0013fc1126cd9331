/**
 * Queries in Cypher, each alone in a process while it runs: what one costs, or breaks, no other question feels. A few
 * processes are kept and used again; one that is late, too large or broken is killed and replaced.
 */
import { unavailable } from "../core/errors.ts";
import { GraphError } from "./graph-error.ts";
import type { GraphPlace } from "./session.ts";
import { type Asked, type GraphJson, type LostHow, WorkerLost, type WorkerProcess } from "./worker-process.ts";

export interface QueryPoolLimits {
  /** Processes at once. */
  processes: number;
  /** Queries that wait for one, at most. */
  waiting: number;
  /** Longest a query may take, in its process. */
  timeoutMs: number;
  /** Longest it may take to make the database that is asked. */
  prepareTimeoutMs: number;
  /** Resident bytes of a process at rest; one that holds more is replaced. */
  keptBytes: number;
}

export interface QueryPool {
  /** @throws GraphError when the query is refused, too slow or too large, Problem 503 when too many wait. */
  ask(place: GraphPlace, args: readonly unknown[]): Promise<GraphJson>;
  /** To be called when a process has ended. */
  forget(worker: WorkerProcess): void;
}

interface Waiting {
  place: GraphPlace;
  begin(): void;
}

const FAILURE: Record<LostHow, string> = {
  late: "the query takes too long: ask for less, or start from fewer nodes",
  memory: "the query needs too much memory: ask for less, or start from fewer nodes",
  ended: "the database cannot work on this query: write it more simply",
};

const unprepared = ({ message }: WorkerLost) =>
  unavailable("graph_unavailable", `The graph's database cannot be made (${message}). Try again; the log has more.`);

export function createQueryPool(limits: QueryPoolLimits, spawn: () => WorkerProcess): QueryPool {
  const idle: WorkerProcess[] = [];
  const waiting: Waiting[] = [];
  /** Stores that are being asked: one query of a project at a time, so that none keeps all processes from others. */
  const asked = new Set<string>();

  function next(): void {
    while (asked.size < limits.processes) {
      const at = waiting.findIndex(({ place }) => !asked.has(place.store));
      const [one] = at < 0 ? [] : waiting.splice(at, 1);
      if (!one) return;
      asked.add(one.place.store);
      one.begin();
    }
  }

  async function turnOf(place: GraphPlace): Promise<void> {
    if (waiting.length >= limits.waiting)
      throw unavailable("graph_busy", "Too many queries wait for the code graph. Try again in a moment.");
    await new Promise<void>((begin) => {
      waiting.push({ place, begin });
      next();
    });
  }

  async function query(worker: WorkerProcess, place: GraphPlace, args: readonly unknown[]): Promise<GraphJson> {
    const preparing: Asked = { operation: "prepareCypher", args: [], timeoutMs: limits.prepareTimeoutMs };
    await worker.ask(place, preparing).catch((error: unknown) => {
      throw error instanceof WorkerLost && worker.answered === 0 ? unprepared(error) : error;
    });
    const asking: Asked = { operation: "cypher", args, json: true, timeoutMs: limits.timeoutMs };
    return (await worker.ask(place, asking)) as GraphJson;
  }

  /** A process that answered before and then died may have died of something else: the query gets a fresh one, once. */
  async function attempt(place: GraphPlace, args: readonly unknown[]): Promise<GraphJson> {
    for (;;) {
      const worker = idle.pop() ?? spawn();
      const isFresh = worker.answered === 0;
      try {
        const answer = await query(worker, place, args);
        keep(worker);
        return answer;
      } catch (error) {
        if (!(error instanceof WorkerLost)) {
          keep(worker);
          throw error;
        }
        if (error.how !== "ended" || isFresh) throw new GraphError("invalid", FAILURE[error.how]);
      }
    }
  }

  function keep(worker: WorkerProcess): void {
    if (!worker.alive) return;
    if (worker.residentBytes() > limits.keptBytes) worker.kill("");
    else idle.push(worker);
  }

  return {
    async ask(place, args) {
      await turnOf(place);
      try {
        return await attempt(place, args);
      } finally {
        asked.delete(place.store);
        next();
      }
    },
    forget(worker) {
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
    },
  };
}
