/** Queues lossy events before they are written: consecutive pieces are joined and written in batches. */
import type { EventDefinition, EventDraft } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";

interface Queued {
  definition: EventDefinition;
  draft: EventDraft;
  /** Length of its text as JSON, in characters. */
  size: number;
  /** Number of characters that were left out at its end because they came too fast. */
  left: number;
}
/** Most characters of a text as JSON. An event with such a text and its other fields fits the log. */
const MAX_TEXT = (LIMITS.eventDataBytes * 3) / 4;
/** Characters of a piece. JSON needs at most six characters for each. */
const MAX_PIECE = Math.floor(MAX_TEXT / 6);

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
      for (const piece of piecesOf(draft)) {
        const next = { definition, draft: piece, size: sizeOf(piece), left: 0 };
        const last = soon.at(-1);
        if (!last || !tryAppend(last, next)) soon.push(next);
      }
      schedule();
    },
    /** Called before any later event: inserts all queued events in the current transaction. */
    insertAll(): void {
      stop();
      const inserted = soon;
      soon = [];
      for (const queued of inserted) insert(queued.definition, complete(queued));
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

const textOf = ({ data }: EventDraft): string | undefined => {
  const text: unknown = data["text"];
  return typeof text === "string" ? text : undefined;
};
const sizeOf = (draft: EventDraft): number => JSON.stringify(textOf(draft) ?? "").length;

/** Splits a long text into several events. An event that is too large for the log would lose all but its beginning. */
function* piecesOf(draft: EventDraft): Generator<EventDraft> {
  const text = textOf(draft);
  if (text === undefined || text.length <= MAX_PIECE) {
    yield { ...draft };
    return;
  }
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = Math.min(text.length, at + MAX_PIECE);
    // Do not cut a surrogate pair in two.
    if (/[\ud800-\udbff]/.test(text[end - 1] ?? "") && end < text.length) end -= 1;
    yield { ...draft, data: { ...draft.data, text: text.slice(at, end) } };
  }
}

/**
 * Appends the text of `next` to that of `last` if both belong to the same session and call. A text that does not fit
 * begins a new event. A call's output is different: it is stored elsewhere and may come faster than anybody reads, so
 * what does not fit is left out and counted.
 */
function tryAppend(last: Queued, next: Queued): boolean {
  const [before, after] = [textOf(last.draft), textOf(next.draft)];
  if (last.definition !== next.definition || before === undefined || after === undefined) return false;
  const { session_id, data } = last.draft;
  if (session_id !== next.draft.session_id || data["call_id"] !== next.draft.data["call_id"]) return false;
  if (last.left > 0 || last.size + next.size > MAX_TEXT) {
    if (data["call_id"] === undefined) return false;
    last.left += after.length;
    return true;
  }
  last.draft.data = { ...data, text: before + after };
  last.size += next.size;
  return true;
}

/** The draft, with a last line that says how much was left out. */
function complete({ draft, left }: Queued): EventDraft {
  if (left === 0) return draft;
  return { ...draft, data: { ...draft.data, text: `${textOf(draft)}\n… ${left} characters left out …\n` } };
}
