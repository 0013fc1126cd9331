/** Queues lossy events before they are written: consecutive pieces are joined and written in batches. */
import type { EventDefinition, EventDraft } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";

type Queued = [EventDefinition, EventDraft];

interface SoonQueueDeps {
  /** Adds an event to the log, inside the current transaction. */
  insert(definition: EventDefinition, draft: EventDraft): void;
  /** Writes queued events in a separate transaction, which calls `insertAll`. */
  commit(): void;
  /** False inside a transaction, and once the database is closed. */
  mayCommit(): boolean;
}

export function createSoonQueue({ insert, commit, mayCommit }: SoonQueueDeps) {
  let soon: Queued[] = [];
  /** Events inserted by the current transaction. */
  let batch: Queued[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let flushedAt = Number.NEGATIVE_INFINITY;
  const flush = (): void => {
    if (soon.length === 0 || !mayCommit()) return;
    flushedAt = performance.now();
    commit();
  };
  /** After a pause, the first piece is written at once; pieces that follow are joined. */
  const schedule = (): void => {
    if (timer) return;
    const rest = flushedAt + LIMITS.outputFlushMs - performance.now();
    timer = setTimeout(
      () => {
        timer = undefined;
        try {
          flush();
        } catch {
          // The disk is full: the pieces stay queued, up to a limit, and are written with the next write that succeeds.
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
    /** Called before any later event: inserts all queued events in the current transaction. */
    insertAll(): void {
      stop();
      const inserted = soon;
      soon = [];
      for (const [definition, draft] of inserted) insert(definition, draft);
      batch = inserted;
    },
    /** Called at the end of the transaction. If it was rolled back, its events are queued again. */
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

/** Appends the text of `next` to that of `last` if both belong to the same session and call. */
function joined(last: EventDraft, next: EventDraft): boolean {
  const [before, after] = [last.data["text"], next.data["text"]];
  if (typeof before !== "string" || typeof after !== "string") return false;
  if (last.session_id !== next.session_id || last.data["call_id"] !== next.data["call_id"]) return false;
  last.data = { ...last.data, text: before + after };
  return true;
}
