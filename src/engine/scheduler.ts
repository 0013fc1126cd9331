/** Takes queued executions as room allows. The bus only wakes it: what is to be done is in the rows. */
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

/** Looks for work whose time has come (back-off) this often, in ms. */
const TICK_MS = 1_000;

/** For each place, executions that may wait aside; with more, only what others have started is taken up. */
const ASIDE = 4;

interface Active {
  execution: Execution;
  stop: AbortController;
  done: Promise<void>;
  /** For how many results of other executions it waits. */
  waits: number;
}

export function createScheduler(ports: EnginePorts, limits: () => SchedulerLimits, log: Logger) {
  const active = new Map<string, Active>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let waking = false;
  /** Nothing is taken before it is started: what the last process left is still being cleared away. */
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
    const aside = async <T>(wait: Promise<T>): Promise<T> => {
      entry.waits++;
      wake();
      try {
        return await wait;
      } finally {
        entry.waits--;
      }
    };
    const entry: Active = { execution, stop, waits: 0, done: Promise.resolve() };
    entry.done = workOn(execution, ports, stop.signal, aside)
      .catch((error) => log.error({ err: error, execution: execution.id }, "execution left; it goes back to the queue"))
      .finally(() => {
        // Given back, it may have been taken again while its sandbox was still being stopped.
        if (active.get(execution.id)?.stop === stop) active.delete(execution.id);
        wake();
      });
    active.set(execution.id, entry);
  }
  /** There may be work. */
  function wake(): void {
    if (waking || !isOn) return;
    waking = true;
    queueMicrotask(fill);
  }
  /** Rows that say running while nobody here works on them: their last write failed (a full disk). */
  function recover(): void {
    for (const id of ports.rows.orphans()) if (!active.has(id)) ports.rows.release(id, 0, null);
  }
  return {
    /** Gives back to the queue what a dead process worked on. Before `start`. */
    reclaim: ports.rows.reclaim,
    /** Takes up work from now on. */
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
    /** Ends a running execution within a second; no model call of it starts any more. */
    stopOne: (id: string, why: StopRequest): void => active.get(id)?.stop.abort(new Stopped(why)),
    /** Gives everything back to the queue and waits for it. */
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
