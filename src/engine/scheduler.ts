/** Starts queued executions as room allows. The bus only wakes it: the rows say what is to be done. */
import type { Logger } from "../core/log.ts";
import type { Execution, StopRequest } from "./execution.ts";
import { type EnginePorts, Stopped } from "./ports.ts";
import { workOn } from "./work.ts";

export interface SchedulerLimits {
  /** Executions at once. */
  parallel: number;
  perAgent: number;
}

export type Scheduler = ReturnType<typeof createScheduler>;

/** How often to look for work whose time has come (back-off), in ms. */
const TICK_MS = 1_000;

/** Executions that may wait aside, per place. Beyond that, only executions that others have started are taken. */
const ASIDE = 4;

interface Active {
  execution: Execution;
  stop: AbortController;
  done: Promise<void>;
  /** How many results of other executions it is waiting for. */
  waits: number;
}

export function createScheduler(ports: EnginePorts, limits: () => SchedulerLimits, log: Logger) {
  const active = new Map<string, Active>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let waking = false;
  /** False until `start`: before that, what the last process left is still being cleaned up. */
  let isOn = false;

  function fill(): void {
    waking = false;
    if (!isOn) return;
    const { parallel, perAgent } = limits();
    const working = [...active.values()].filter(({ waits }) => waits === 0);
    const room = parallel - working.length;
    if (room <= 0) return;
    const busy = new Map<string, number>();
    for (const { execution } of working) busy.set(execution.agentId, (busy.get(execution.agentId) ?? 0) + 1);
    const belowOnly = active.size - working.length >= parallel * ASIDE;
    try {
      for (const execution of ports.rows.take(room, busy, { perAgent, belowOnly })) begin(execution);
    } catch (error) {
      log.error({ err: error }, "no work taken; trying again");
    }
  }
  function begin(execution: Execution): void {
    const stop = new AbortController();
    const waitAside = async <T>(wait: Promise<T>): Promise<T> => {
      entry.waits++;
      wake();
      try {
        return await wait;
      } finally {
        entry.waits--;
      }
    };
    const entry: Active = { execution, stop, waits: 0, done: Promise.resolve() };
    entry.done = workOn(execution, ports, stop.signal, waitAside)
      .catch((error) => log.error({ err: error, execution: execution.id }, "execution left; it goes back to the queue"))
      .finally(() => {
        // An execution that was given back may already run again here while its old sandbox was being stopped.
        if (active.get(execution.id)?.stop === stop) active.delete(execution.id);
        wake();
      });
    active.set(execution.id, entry);
  }
  /** Says that there may be work. */
  function wake(): void {
    if (waking || !isOn) return;
    waking = true;
    queueMicrotask(fill);
  }
  /**
   * Gives back rows that are marked as running although nobody here works on them: their last write failed (a full
   * disk).
   */
  function recover(): void {
    for (const id of ports.rows.orphans()) if (!active.has(id)) ports.rows.release(id, 0, null);
  }
  return {
    /** Gives a dead process's executions back to the queue. Call it before `start`. */
    reclaim: ports.rows.reclaim,
    /** Takes work from now on. */
    start(): void {
      isOn = true;
      timer = setInterval(() => {
        try {
          recover();
        } catch (error) {
          log.error({ err: error }, "tick failed; trying again");
        }
        wake();
      }, TICK_MS);
      wake();
    },
    wake,
    /** Stops a running execution within a second; it starts no further model call. */
    stopOne: (id: string, why: StopRequest): void => active.get(id)?.stop.abort(new Stopped(why)),
    /** Gives everything back to the queue, and waits until that is done. */
    async stop(): Promise<void> {
      isOn = false;
      clearInterval(timer);
      for (const { stop } of active.values()) stop.abort(new Stopped("shutdown"));
      await Promise.all([...active.values()].map(({ done }) => done));
    },
    isActive: (id: string): boolean => active.has(id),
    get active(): number {
      return active.size;
    },
  };
}
