/**
 * A few processes for work that must not touch each other: each is alone in its process while it runs, so what one costs
 * or breaks does not affect the others. Processes are kept and used again; one that is late, too large or
 * broken is replaced. Not a `PQueue`: that one cannot let other owners' work pass an owner whose work already runs.
 */
import { WorkerLost, type WorkerProcess } from "./worker-process.ts";

interface WorkerPoolOptions<Reply extends { id: number }> {
  /** Processes at once. */
  processes: number;
  /** How much work waits for one, at most. */
  waiting: number;
  /** Resident bytes of a process at rest; one that holds more is replaced. */
  keptBytes: number;
  spawn(): WorkerProcess<Reply>;
  /** The error for work that may not wait. */
  busy(): Error;
}

export function createWorkerPool<Reply extends { id: number }>(options: WorkerPoolOptions<Reply>) {
  const { processes, keptBytes, spawn, busy } = options;
  const idle: WorkerProcess<Reply>[] = [];
  const waiting: { owner: string; begin(): void }[] = [];
  const working = new Set<string>();

  function next(): void {
    while (working.size < processes) {
      const at = waiting.findIndex(({ owner }) => !working.has(owner));
      const [one] = at < 0 ? [] : waiting.splice(at, 1);
      if (!one) return;
      working.add(one.owner);
      one.begin();
    }
  }

  async function turnOf(owner: string): Promise<void> {
    if (waiting.length >= options.waiting) throw busy();
    await new Promise<void>((begin) => {
      waiting.push({ owner, begin });
      next();
    });
  }

  function keep(worker: WorkerProcess<Reply>): void {
    if (!worker.alive) return;
    if (worker.residentBytes() > keptBytes) worker.kill("");
    else idle.push(worker);
  }

  async function attempt<T>(work: (worker: WorkerProcess<Reply>) => Promise<T>): Promise<T> {
    for (;;) {
      const worker = idle.pop() ?? spawn();
      const isFresh = worker.answered === 0;
      try {
        return await work(worker);
      } catch (error) {
        // One that answered before and then died may have died of something else.
        if (!(error instanceof WorkerLost) || error.how !== "ended" || isFresh) throw error;
      } finally {
        keep(worker);
      }
    }
  }

  return {
    /**
     * @param owner whose work it is: one at a time, so that none keeps all processes from others.
     * @throws WorkerLost when the process died under it; work that finds a dead process is started again in a fresh one.
     */
    async run<T>(owner: string, work: (worker: WorkerProcess<Reply>) => Promise<T>): Promise<T> {
      await turnOf(owner);
      try {
        return await attempt(work);
      } finally {
        working.delete(owner);
        next();
      }
    },
    /** To be called when a process has ended. */
    forget(worker: WorkerProcess<Reply>): void {
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
    },
  };
}
