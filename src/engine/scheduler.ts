/** Takes queued executions as room allows. The bus only wakes it: what is to be done stands in the rows. */
import type { Logger } from "../core/log.ts";
import type { Execution, StopRequest } from "./execution.ts";
import { type EnginePorts, Stopped } from "./ports.ts";
import { workOn } from "./work.ts";

export interface SchedulerLimits {
  /** Executions at once. */
  parallel: number;
  perAgent: number;
}

export interface Scheduler {
  /** Takes up what a dead process left, then begins. */
  start(): void;
  /** There may be work. */
  wake(): void;
  /** Ends a running execution within a second; no model call of it starts any more. */
  stopOne(executionId: string, why: StopRequest): void;
  /** Gives everything back to the queue and waits for it. */
  stop(): Promise<void>;
  isActive(executionId: string): boolean;
  readonly active: number;
}

/** Looks for work whose time has come (back-off) this often, in ms. */
const TICK_MS = 1_000;

export function createScheduler(ports: EnginePorts, limits: () => SchedulerLimits, log: Logger): Scheduler {
  const active = new Map<string, { execution: Execution; stop: AbortController; done: Promise<void> }>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let waking = false;
  let stopping = false;

  function fill(): void {
    waking = false;
    if (stopping) return;
    const { parallel, perAgent } = limits();
    const room = parallel - active.size;
    if (room <= 0) return;
    const busy = new Map<string, number>();
    for (const { execution } of active.values()) busy.set(execution.agentId, (busy.get(execution.agentId) ?? 0) + 1);
    try {
      for (const execution of ports.rows.take(room, busy, perAgent)) begin(execution);
    } catch (error) {
      log.error({ err: error }, "no work taken; trying again");
    }
  }
  function begin(execution: Execution): void {
    const stop = new AbortController();
    const done = workOn(execution, ports, stop.signal)
      .catch((error) => log.error({ err: error, execution: execution.id }, "execution left; it goes back to the queue"))
      .finally(() => {
        // Given back, it may have been taken again while its sandbox was still being stopped.
        if (active.get(execution.id)?.stop === stop) active.delete(execution.id);
        wake();
      });
    active.set(execution.id, { execution, stop, done });
  }
  function wake(): void {
    if (waking || stopping) return;
    waking = true;
    queueMicrotask(fill);
  }
  /** Rows that say running while nobody here works on them: their last write failed (a full disk). */
  function recover(): void {
    for (const id of ports.rows.orphans()) if (!active.has(id)) ports.rows.release(id, 0, null);
  }
  return {
    start() {
      ports.rows.reclaim();
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
    stopOne: (id, why) => active.get(id)?.stop.abort(new Stopped(why)),
    async stop() {
      stopping = true;
      clearInterval(timer);
      for (const { stop } of active.values()) stop.abort(new Stopped("shutdown"));
      await Promise.all([...active.values()].map(({ done }) => done));
    },
    isActive: (id) => active.has(id),
    get active() {
      return active.size;
    },
  };
}
