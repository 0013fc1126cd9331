/**
 * The in-process event bus: delivers committed events to subscribers in the order of their ids. A subscriber never
 * blocks a writer, and its errors are logged. The rows are authoritative: when the process dies, no event is lost, only
 * its delivery.
 */
import type { EventDefinition, EventOf, SkepEvent } from "../core/events.ts";

type Subscriber = (event: SkepEvent) => void;

export type Bus = ReturnType<typeof createBus>;

/** @param onError receives a subscriber's error. */
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
  const waitUntil = <D extends EventDefinition>(
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
      const checkEvent = (event?: EventOf<D>) => {
        try {
          if (isSo(event)) end(resolve);
        } catch (error) {
          end(() => reject(error));
        }
      };
      const unsubscribe = add(checkEvent as Subscriber, new Set(definitions.map(({ kind }) => kind)));
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      else checkEvent();
    });
  return {
    /**
     * Resolves once `isSo` returns true; it is called now and after each of these events. @throws the signal's reason.
     */
    waitUntil,
    /** Receives every event of these definitions after its commit. @returns unsubscribe. */
    subscribe: <D extends EventDefinition>(
      definitions: readonly D[],
      subscriber: (event: EventOf<D>) => void,
    ): (() => void) => add(subscriber as Subscriber, new Set(definitions.map(({ kind }) => kind))),
    /** Receives every event. @returns unsubscribe. */
    subscribeAll: (subscriber: Subscriber): (() => void) => add(subscriber, null),
    /** Accepts committed events; called by the store. */
    deliver(events: readonly SkepEvent[]): void {
      queue.push(...events);
      if (draining) return;
      draining = true;
      queueMicrotask(drain);
    },
    get subscribers() {
      return subscriptions.size;
    },
    /** Number of lossy events that subscribers could not take, as they report it. */
    get dropped() {
      return dropped;
    },
    countDropped(events: number): void {
      dropped += events;
    },
  };
}
