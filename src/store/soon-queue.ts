/** Lossy events that wait to be written: pieces that follow one another are joined, and written in batches. */
import type { EventDefinition, EventDraft } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";

interface Queued {
  definition: EventDefinition;
  draft: EventDraft;
  /** Characters of its text as JSON. */
  size: number;
  /** Characters that came too fast and are left out at its end. */
  left: number;
}
/** Most characters of a text as JSON: with all else an event has, it is not cut. */
const MAX_TEXT = (LIMITS.eventDataBytes * 3) / 4;
/** Characters of a piece: JSON writes none in more than six. */
const MAX_PIECE = Math.floor(MAX_TEXT / 6);

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
      for (const piece of piecesOf(draft)) {
        const next = { definition, draft: piece, size: sizeOf(piece), left: 0 };
        const last = soon.at(-1);
        if (!last || !joined(last, next)) soon.push(next);
      }
      schedule();
    },
    /** Before any later event: what waits is in the transaction that has begun. */
    insertAll(): void {
      stop();
      const inserted = soon;
      soon = [];
      for (const queued of inserted) insert(queued.definition, complete(queued));
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

const textOf = ({ data }: EventDraft): string | undefined => {
  const text: unknown = data["text"];
  return typeof text === "string" ? text : undefined;
};
const sizeOf = (draft: EventDraft): number => JSON.stringify(textOf(draft) ?? "").length;

/** A long text in several events: one that is too large for the log would be replaced by the beginning of its JSON. */
function* piecesOf(draft: EventDraft): Generator<EventDraft> {
  const text = textOf(draft);
  if (text === undefined || text.length <= MAX_PIECE) {
    yield { ...draft };
    return;
  }
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = Math.min(text.length, at + MAX_PIECE);
    // No character is cut in two.
    if (/[\ud800-\udbff]/.test(text[end - 1] ?? "") && end < text.length) end -= 1;
    yield { ...draft, data: { ...draft.data, text: text.slice(at, end) } };
  }
}

/**
 * Appends the text of `next` to that of `last` where both are of the same session and call. What does not fit begins an
 * event of its own; of a call, whose output is kept elsewhere and may come faster than anybody reads, it is left out.
 */
function joined(last: Queued, next: Queued): boolean {
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

/** With a line for what is left out. */
function complete({ draft, left }: Queued): EventDraft {
  if (left === 0) return draft;
  return { ...draft, data: { ...draft.data, text: `${textOf(draft)}\n… ${left} characters left out …\n` } };
}
