/** When the attempts of a run waited and worked, on one scale of time. */

/** What a span needs to know of an attempt. */
interface Attempt {
  queued_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export interface Span<T extends Attempt> {
  step: T;
  /** ms from the begin of the scale: when it could begin, when it began, when it ended. */
  queued: number;
  start: number;
  end: number;
}

export interface Spans<T extends Attempt> {
  /** In the order in which they began. */
  spans: Span<T>[];
  /** Length of the scale, ms. */
  whole: number;
  /** Time in the queue of all together, ms; waiting for earlier steps is none. */
  waited: number;
}

/** @param from begin of the scale. @param to its end, which is now while something runs; both ms since the epoch. */
export function spansOf<T extends Attempt>(rows: T[], from: number, to: number): Spans<T> {
  const spans = rows.flatMap((step): Span<T>[] => {
    if (step.started_at === null) return [];
    const start = Math.max(0, Date.parse(step.started_at) - from);
    const queued = Math.min(start, Math.max(0, Date.parse(step.queued_at) - from));
    const end = Math.max(start, (step.finished_at ? Date.parse(step.finished_at) : to) - from);
    return [{ step, queued, start, end }];
  });
  spans.sort((a, b) => a.start - b.start || a.end - b.end);
  const waited = spans.reduce((sum, { queued, start }) => sum + start - queued, 0);
  return { spans, whole: Math.max(to - from, 1), waited };
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS_MS = [
  ...[100, 200, 500, SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 15 * SECOND, 30 * SECOND],
  ...[MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  ...[HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, DAY, 2 * DAY, 7 * DAY],
];

/** Marks of the axis, ms from its begin: round times, a few of them. */
export function ticksOf(whole: number, most = 6): number[] {
  const step = STEPS_MS.find((one) => whole / one <= most) ?? Math.ceil(whole / most / DAY) * DAY;
  return Array.from({ length: Math.floor(whole / step) + 1 }, (_, at) => at * step);
}
