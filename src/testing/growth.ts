/** Detects whether a measurement grows without end: its trend over points at which the same work was done. */

interface Trend {
  /**
   * How much it grows from the first to the last point: the median slope of all pairs, times the distance (Theil–Sen
   * estimator).
   */
  grown: number;
  /** Whether the order of the values is significant by the one-sided Mann–Kendall test, at 1 in 1,000. */
  isTrend: boolean;
}

/** Standard deviations from the mean that chance exceeds only once in 1,000 cases. */
const CHANCE = 3.09;
/** With fewer points, even a strictly growing sequence may be chance. */
export const FEWEST_POINTS = 7;

/** The median of the values; 0 if there are none. */
function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
}

/** @param values values at equally spaced points. A few outliers or a sawtooth pattern do not count as a trend. */
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
  /** How much it may grow over all points, as a fraction of its median. */
  part: number;
  /** How much it may always grow, in its own unit. The larger of the two bounds applies. */
  least: number;
}

interface Verdict extends Trend {
  allowed: number;
  isGrowing: boolean;
}

/** @returns whether the values grow both significantly and by more than the bound. */
export function judgeGrowth(values: readonly number[], { part, least }: Bound): Verdict {
  const trend = trendOf(values);
  const allowed = Math.max(least, part * middle(values));
  return { ...trend, allowed, isGrowing: trend.isTrend && trend.grown > allowed };
}
