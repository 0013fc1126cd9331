/**
 * The in-process event bus: tells subscribers what was committed, in order of ids. A subscriber never holds up a
 * writer, and what it throws is its own trouble. Rows are the truth; a lost process loses no event, only the telling.
 */
import { EVENT_KINDS, type EventKind, type SkepEvent } from "../core/events.ts";

export type Subscriber = (event: SkepEvent) => void;

export interface Bus {
  /** Hears of every event of these kinds (all when absent), after its commit. @returns unsubscribe. */
  subscribe(subscriber: Subscriber, kinds?: readonly EventKind[]): () => void;
  /** Tells of committed events. Called by the store. */
  deliver(events: readonly SkepEvent[]): void;
  readonly subscribers: number;
  /** Lossy events that a subscriber could not take, by its own count. */
  readonly dropped: number;
  countDropped(events: number): void;
}

/** @param onError hears what a subscriber threw. */
export function createBus(onError: (error: unknown, event: SkepEvent) => void): Bus {
  const subscriptions = new Set<{ subscriber: Subscriber; kinds: ReadonlySet<EventKind> | null }>();
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
  return {
    subscribe(subscriber, kinds) {
      const subscription = { subscriber, kinds: kinds ? new Set(kinds) : null };
      subscriptions.add(subscription);
      return () => void subscriptions.delete(subscription);
    },
    deliver(events) {
      queue.push(...events);
      if (draining) return;
      draining = true;
      queueMicrotask(drain);
    },
    get subscribers() {
      return subscriptions.size;
    },
    get dropped() {
      return dropped;
    },
    countDropped(events) {
      dropped += events;
    },
  };
}

export const isLossy = (kind: EventKind): boolean => EVENT_KINDS[kind] === "lossy";
