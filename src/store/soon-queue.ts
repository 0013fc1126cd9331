/** Lossy events that wait to be written: pieces that follow one another are joined, and written in batches. */
import type { EventDefinition, EventDraft } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";

type Queued = [EventDefinition, EventDraft];

interface SoonQueueDeps {
  /** Adds an event to the log, in the transaction that has begun. */
  insert(definition: EventDefinition, draft: EventDraft): void;
  /** Writes what waits in a transaction of its own, which calls `insertAll`. */
  commit(): void;
  /** False inside a transaction, and once the database is closed. */
  mayCommit(): boolean;
}

export function createSoonQueue({ insert, commit, mayCommit }: SoonQueueDeps) {
  let soon: Queued[] = [];
  /** Inserted by the transaction that is under way. */
  let batch: Queued[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let flushedAt = Number.NEGATIVE_INFINITY;
  const flush = (): void => {
    if (soon.length === 0 || !mayCommit()) return;
    flushedAt = performance.now();
    commit();
  };
  /** After a pause the first piece goes out at once; pieces that follow are joined. */
  const schedule = (): void => {
    if (timer) return;
    const rest = flushedAt + LIMITS.outputFlushMs - performance.now();
    timer = setTimeout(
      () => {
        timer = undefined;
        try {
          flush();
        } catch {
          // A full disk: the chunks stay queued, bounded below, and go out with the next write that succeeds.
          if (soon.length > 10_000) soon = soon.slice(-1_000);
        }
      },
      Math.max(0, rest),
    );
  };
  return {
    flush,
    add(definition: EventDefinition, draft: EventDraft): void {
      const last = soon.at(-1);
      if (!last || last[0] !== definition || !joined(last[1], draft)) soon.push([definition, { ...draft }]);
      schedule();
    },
    /** Before any later event: what waits is in the transaction that has begun. */
    insertAll(): void {
      stop();
      const inserted = soon;
      soon = [];
      for (const [definition, draft] of inserted) insert(definition, draft);
      batch = inserted;
    },
    /** Ends the transaction: what it inserted waits again when it was undone. */
    settle(isDone: boolean): void {
      if (!isDone) soon = [...batch, ...soon];
      batch = [];
      if (!isDone && soon.length > 0) schedule();
    },
    stop,
  };

  function stop(): void {
    clearTimeout(timer);
    timer = undefined;
  }
}

/** Appends the text of `next` to that of `last` where both are of the same session and call. */
function joined(last: EventDraft, next: EventDraft): boolean {
  const [before, after] = [last.data["text"], next.data["text"]];
  if (typeof before !== "string" || typeof after !== "string") return false;
  if (last.session_id !== next.session_id || last.data["call_id"] !== next.data["call_id"]) return false;
  last.data = { ...last.data, text: before + after };
  return true;
}
