/** Arranges a run as rows on a common time scale: when each attempt waited and when it worked. */
import type { Schemas } from "../../../api/types.ts";

type Attempt = Schemas["StepAttempt"];
type StepPlan = Schemas["StepPlan"];

/** The fields of an attempt that a row needs. */
export type Timed = Pick<
  Attempt,
  "id" | "step_id" | "index" | "status" | "kind" | "visit" | "queued_at" | "started_at" | "finished_at"
>;

/** One row of the picture: an attempt, or a step that has not begun. */
export interface GanttRow<T extends Timed = Attempt> {
  key: string;
  step: string;
  name: string;
  /** `round 2`, `try 3`, `item 4`; empty for the first attempt of a step. */
  note: string;
  status: T["status"];
  /** Whether the row is indented below another row. */
  inner: boolean;
  attempt: T | undefined;
  /** How many items of the same step are folded away below this row. */
  folded: number;
}

/** How many items of a step are shown before the rest is folded. */
const ITEMS_SHOWN = 4;

/**
 * When the row of an attempt begins: at its work, or while it waits, at its time of queueing. In ms since the epoch.
 */
const beginOf = ({ started_at, queued_at, status }: Timed): number =>
  started_at !== null ? Date.parse(started_at) : status === "queued" ? Date.parse(queued_at) : Number.POSITIVE_INFINITY;

/** @param nth number of the attempt within its step, from 1. */
function noteOf({ visit, index }: Timed, nth: number): string {
  if (index !== null) return `item ${index + 1}${nth > 1 ? `, try ${nth}` : ""}`;
  if (visit > 1) return `round ${visit}`;
  return nth > 1 ? `try ${nth}` : "";
}

interface Counted<T extends Timed> {
  attempt: T;
  note: string;
}

function withNotes<T extends Timed>(attempts: readonly T[]): Counted<T>[] {
  const seen = new Map<string, number>();
  return attempts.map((attempt) => {
    const of = `${attempt.step_id} ${attempt.index}`;
    const nth = (seen.get(of) ?? 0) + 1;
    seen.set(of, nth);
    return { attempt, note: noteOf(attempt, nth) };
  });
}

/**
 * The rows in the order in which they began. Steps that have not begun come last, in the pipeline's order. Items of a
 * step are placed below the attempt that gathers them.
 * @param attempts oldest first. @param open steps whose items are all shown.
 */
export function rowsOf<T extends Timed>(
  plan: readonly Pick<StepPlan, "id" | "name" | "status">[],
  attempts: readonly T[],
  open: ReadonlySet<string> = new Set(),
): GanttRow<T>[] {
  const names = new Map(plan.map(({ id, name }) => [id, name]));
  const begun = withNotes(attempts).filter(({ attempt }) => beginOf(attempt) < Number.POSITIVE_INFINITY);
  const sorted = begun.sort((a, b) => beginOf(a.attempt) - beginOf(b.attempt));
  const items = new Map<string, Counted<T>[]>();
  for (const one of sorted) {
    if (one.attempt.index === null) continue;
    const of = items.get(one.attempt.step_id);
    if (of) of.push(one);
    else items.set(one.attempt.step_id, [one]);
  }
  const toRow = ({ attempt, note }: Counted<T>): GanttRow<T> => ({
    key: attempt.id,
    step: attempt.step_id,
    name: names.get(attempt.step_id) ?? attempt.step_id,
    note,
    status: attempt.status,
    inner: note !== "",
    attempt,
    folded: 0,
  });
  const itemRows = (step: string): GanttRow<T>[] => {
    const all = (items.get(step) ?? []).map(toRow);
    items.delete(step);
    if (open.has(step) || all.length <= ITEMS_SHOWN) return all;
    const shown = all.slice(0, ITEMS_SHOWN);
    shown[shown.length - 1]!.folded = all.length - shown.length;
    return shown;
  };
  const rows: GanttRow<T>[] = [];
  const there = new Set<string>();
  for (const one of sorted) {
    there.add(one.attempt.step_id);
    if (one.attempt.index !== null) continue;
    rows.push(toRow(one), ...itemRows(one.attempt.step_id));
  }
  // Items whose gathering attempt is not among the attempts.
  for (const step of [...items.keys()]) rows.push(...itemRows(step));
  const ahead = plan.filter(({ id }) => !there.has(id));
  return [
    ...rows,
    ...ahead.map(({ id, name, status }) => ({
      key: id,
      step: id,
      name,
      note: "",
      status,
      inner: false,
      attempt: undefined,
      folded: 0,
    })),
  ];
}

export interface Span {
  /** In ms from the start of the scale: when it was queued, when it began, and when it ended. */
  queued: number;
  start: number;
  end: number;
}

/**
 * @param from start of the scale. @param now taken as the end of what has not ended. Both are in ms since the epoch.
 */
export function spanOf({ queued_at, started_at, finished_at, status }: Timed, from: number, now: number): Span | null {
  if (started_at === null && status !== "queued") return null;
  const start = Math.max(0, (started_at === null ? now : Date.parse(started_at)) - from);
  const queued = Math.min(start, Math.max(0, Date.parse(queued_at) - from));
  const end = Math.max(start, (finished_at ? Date.parse(finished_at) : now) - from);
  return { queued, start, end: started_at === null ? start : end };
}

/** Totals of how the time was spent, in ms. */
export function sumsOf(
  { items }: { items: readonly (Timed & Pick<Attempt, "model_time" | "waited_ms">)[] },
  from: number,
  now: number,
) {
  const sums = { queue: 0, person: 0, model: 0, tools: 0, waited: 0 };
  for (const attempt of items) {
    const span = spanOf(attempt, from, now);
    if (!span) continue;
    const took = span.end - span.start;
    sums.queue += span.start - span.queued;
    const model = attempt.model_time.reduce((sum, { from_ms, to_ms }) => sum + to_ms - from_ms, 0);
    if (attempt.kind === "approval") sums.person += took;
    else if (attempt.kind === "command" || attempt.kind === "agent") {
      const rest = Math.max(0, took - model);
      const waited = Math.min(rest, attempt.waited_ms);
      sums.model += model;
      sums.waited += waited;
      sums.tools += rest - waited;
    }
  }
  return sums;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS_MS = [
  100,
  200,
  500,
  SECOND,
  2 * SECOND,
  5 * SECOND,
  10 * SECOND,
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
];

/** Marks of the axis in ms from its start: at most `most` steps of a round length. */
export function ticksOf(whole: number, most = 6): number[] {
  const step = STEPS_MS.find((one) => whole / one <= most) ?? Math.ceil(whole / most / DAY) * DAY;
  return Array.from({ length: Math.floor(whole / step) + 1 }, (_, at) => at * step);
}

/**
 * The length of the scale while a run is active. It grows in jumps, so that bars of ended attempts keep their place for
 * a while.
 */
export function roundUp(whole: number): number {
  const [, step = SECOND] = ticksOf(whole, 12);
  return Math.ceil((whole + 1) / step) * step;
}
