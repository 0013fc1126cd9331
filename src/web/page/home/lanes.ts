/** Arranges steps over time in few lines: overlapping steps are placed one below another. */
import type { Schemas } from "../../../api/types.ts";

type StepSpan = Schemas["StepSpan"];

interface LaneBar {
  step: StepSpan;
  /** Position and width in percent of the time so far. */
  left: number;
  width: number;
  /** Index of the line, from 0. */
  lane: number;
}

/** Most lines that are drawn. Further overlapping steps share the last one. */
const LANES_MAX = 4;

/** @param from start of the run. @param now the current time. Both are in ms since the epoch. */
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
