/**
 * The in-process event bus: gives subscribers what was committed, in order of ids. A subscriber never holds up a
 * writer, and what it throws is logged. Rows are the truth: a process that dies loses no event, only its delivery.
 */
import type { EventDefinition, EventOf, SkepEvent } from "../core/events.ts";

type Subscriber = (event: SkepEvent) => void;

export type Bus = ReturnType<typeof createBus>;

/** @param onError receives what a subscriber threw. */
export function createBus(onError: (error: unknown, event: SkepEvent) => void) {
  const subscriptions = new Set<{ subscriber: Subscriber; kinds: ReadonlySet<string> | null }>();
  let queue: SkepEvent[] = [];
  let draining = false;
  let dropped = 0;

  function drain(): void {
    draining = false;
    const batch = queue;
    queue = [];
    for (const event of batch)
      for (const { subscriber, kinds } of subscriptions) {
        if (kinds && !kinds.has(event.kind)) continue;
        try {
          subscriber(event);
        } catch (error) {
          onError(error, event);
        }
      }
  }
  const add = (subscriber: Subscriber, kinds: ReadonlySet<string> | null) => {
    const subscription = { subscriber, kinds };
    subscriptions.add(subscription);
    return () => void subscriptions.delete(subscription);
  };
  const until = <D extends EventDefinition>(
    definitions: readonly D[],
    isSo: (event?: EventOf<D>) => boolean,
    signal: AbortSignal,
  ) =>
    new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        unsubscribe();
        signal.removeEventListener("abort", stop);
        settle();
      };
      const stop = () => end(() => reject(signal.reason));
      const look = (event?: EventOf<D>) => {
        try {
          if (isSo(event)) end(resolve);
        } catch (error) {
          end(() => reject(error));
        }
      };
      const unsubscribe = add(look as Subscriber, new Set(definitions.map(({ kind }) => kind)));
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      else look();
    });
  return {
    /** Resolves once `isSo` returns true; called now and after each of these events. @throws what the signal aborts with. */
    until,
    /** Receives every event of these definitions after its commit. @returns unsubscribe. */
    subscribe: <D extends EventDefinition>(
      definitions: readonly D[],
      subscriber: (event: EventOf<D>) => void,
    ): (() => void) => add(subscriber as Subscriber, new Set(definitions.map(({ kind }) => kind))),
    /** Receives every event. @returns unsubscribe. */
    subscribeAll: (subscriber: Subscriber): (() => void) => add(subscriber, null),
    /** Takes committed events. Called by the store. */
    deliver(events: readonly SkepEvent[]): void {
      queue.push(...events);
      if (draining) return;
      draining = true;
      queueMicrotask(drain);
    },
    get subscribers() {
      return subscriptions.size;
    },
    /** Lossy events that a subscriber could not take, by its own count. */
    get dropped() {
      return dropped;
    },
    countDropped(events: number): void {
      dropped += events;
    },
  };
}
