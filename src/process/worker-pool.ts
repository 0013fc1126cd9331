/**
 * A small pool of processes for pieces of work that must not affect each other. Each process does one piece of work at
 * a time, so what that work costs or breaks stays in its process. Processes are reused; one that is late, too large or
 * broken is replaced.
 * `PQueue` does not serve, because it cannot let other owners' work overtake that of an owner whose work already runs.
 */
import { WorkerLost, type WorkerProcess } from "./worker-process.ts";

interface WorkerPoolOptions<Reply extends { id: number }> {
  /** Most processes that run at the same time. */
  processes: number;
  /** Most pieces of work that wait for a process. */
  waiting: number;
  /** Resident bytes that an idle process may hold. The pool replaces a process that holds more. */
  keptBytes: number;
  spawn(): WorkerProcess<Reply>;
  /** Makes the error for work that finds the queue full. */
  busy(): Error;
}

export function createWorkerPool<Reply extends { id: number }>(options: WorkerPoolOptions<Reply>) {
  const { processes, keptBytes, spawn, busy } = options;
  const idle: WorkerProcess<Reply>[] = [];
  const waiting: { owner: string; begin(): void }[] = [];
  const working = new Set<string>();

  function startNext(): void {
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
      startNext();
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
        // A process that answered earlier calls may have died of one of them, so the work is tried again in another
        // process.
        if (!(error instanceof WorkerLost) || error.how !== "ended" || isFresh) throw error;
      } finally {
        keep(worker);
      }
    }
  }

  return {
    /**
     * Runs the work in a process that is free.
     * @param owner whose work it is. Each owner has at most one piece of work running, so that no owner occupies all
     * processes.
     * @throws WorkerLost when the process died during the work. If a reused process ended by itself, the work is tried
     * again first.
     */
    async run<T>(owner: string, work: (worker: WorkerProcess<Reply>) => Promise<T>): Promise<T> {
      await turnOf(owner);
      try {
        return await attempt(work);
      } finally {
        working.delete(owner);
        startNext();
      }
    },
    /** Removes a process that has ended. Whoever spawned the process must call this. */
    forget(worker: WorkerProcess<Reply>): void {
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
    },
  };
}
