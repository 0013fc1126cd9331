/** Steps over time in few lines: those that overlap stand below each other. */
import type { Schemas } from "../../../api/types.ts";

type StepSpan = Schemas["StepSpan"];

interface LaneBar {
  step: StepSpan;
  /** Per cent of the time so far. */
  left: number;
  width: number;
  /** From 0. */
  lane: number;
}

/** Lines that are drawn; what has no room shares the last one. */
const LANES_MAX = 4;

/** @param from when the run began. @param now both ms since the epoch. */
export function lanesOf(steps: readonly StepSpan[], from: number, now: number): { bars: LaneBar[]; lanes: number } {
  const whole = Math.max(1, now - from);
  const begun = steps
    .flatMap((step) => {
      if (step.started_at === null) return [];
      const start = Math.max(from, Date.parse(step.started_at));
      return [{ step, start, end: Math.max(start, step.finished_at ? Date.parse(step.finished_at) : now) }];
    })
    .sort((a, b) => a.start - b.start);
  const ends: number[] = [];
  const bars = begun.map(({ step, start, end }): LaneBar => {
    const free = ends.findIndex((at) => at <= start);
    const lane = free >= 0 ? free : Math.min(ends.length, LANES_MAX - 1);
    ends[lane] = Math.max(end, ends[lane] ?? 0);
    return { step, lane, left: ((start - from) / whole) * 100, width: ((end - start) / whole) * 100 };
  });
  return { bars, lanes: Math.max(1, ends.length) };
}
