/** Whether a measure grows without end: its trend over a stretch, where the work of each point is the same. */

interface Trend {
  /** By how much it grows from the first to the last point: the middle slope of all pairs, times the distance. */
  grown: number;
  /** Whether such an order of values is no chance (Mann and Kendall's test, one-sided, 1 of 1,000). */
  isTrend: boolean;
}

/** Standard deviations from what chance gives: 1 of 1,000 is beyond it. */
const CHANCE = 3.09;
/** With fewer points even a straight line may be chance. */
export const FEWEST_POINTS = 7;

/** The middle of the values, 0 without any. */
function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
}

/** @param values at points of equal distance. Neither a few outliers nor a saw's teeth are a trend. */
export function trendOf(values: readonly number[]): Trend {
  const slopes: number[] = [];
  let order = 0;
  for (let from = 0; from < values.length; from++)
    for (let to = from + 1; to < values.length; to++) {
      const difference = values[to]! - values[from]!;
      slopes.push(difference / (to - from));
      order += Math.sign(difference);
    }
  const n = values.length;
  const deviation = Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  return {
    grown: middle(slopes) * Math.max(0, n - 1),
    isTrend: n >= FEWEST_POINTS && order - 1 > CHANCE * deviation,
  };
}

export interface Bound {
  /** What it may grow by over the stretch, as a part of its middle. */
  part: number;
  /** And in its own unit; the larger of both holds. */
  least: number;
}

interface Verdict extends Trend {
  allowed: number;
  isGrowing: boolean;
}

/** @returns what is beyond noise and beyond the bound together. */
export function judgeGrowth(values: readonly number[], { part, least }: Bound): Verdict {
  const trend = trendOf(values);
  const allowed = Math.max(least, part * middle(values));
  return { ...trend, allowed, isGrowing: trend.isTrend && trend.grown > allowed };
}
