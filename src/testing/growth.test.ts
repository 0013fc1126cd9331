/**
 * What `scripts/bench soak` calls growth: a leak of one in two rounds is found; noise and sawtooth patterns are not.
 */
import { expect, test } from "bun:test";
import { createRandom } from "./crash/random.ts";
import { judgeGrowth, trendOf } from "./growth.ts";

const POINTS = 40;
const series = (value: (at: number, noise: number) => number): number[] => {
  const random = createRandom(7);
  return Array.from({ length: POINTS }, (_, at) => value(at, random.upTo(20) - 10));
};
const BOUND = { part: 0.05, least: 5 };

test("a small leak under noise grows, beyond its bound only", () => {
  const leak = series((at, noise) => 100 + at / 2 + noise / 4);
  expect(trendOf(leak).isTrend).toBe(true);
  expect(trendOf(leak).grown).toBeGreaterThan(15);
  expect(judgeGrowth(leak, BOUND).isGrowing).toBe(true);
  expect(judgeGrowth(leak, { part: 0, least: 30 }).isGrowing).toBe(false);
  expect(judgeGrowth(leak, { part: 0.5, least: 0 })).toMatchObject({ isGrowing: false, isTrend: true });
});

test("steps that never go back grow", () => {
  expect(
    judgeGrowth(
      series((at) => 50 + 10 * Math.floor(at / 8)),
      BOUND,
    ).isGrowing,
  ).toBe(true);
});

test("noise, saw's teeth, outliers, what falls and what stays do not grow", () => {
  const calm = [
    series((_, noise) => 100 + noise),
    series((at) => 100 + 10 * (at % 8)),
    series((at) => (at === 11 || at === 37 ? 10_000 : 100)),
    series((at, noise) => 1_000 - 3 * at + noise),
    series(() => 100),
    series(() => 0),
  ];
  expect(calm.map((values) => judgeGrowth(values, BOUND).isGrowing)).toEqual(calm.map(() => false));
});

test("too few points show nothing", () => {
  expect(judgeGrowth([1, 10, 100, 1_000, 10_000], BOUND).isGrowing).toBe(false);
  expect(judgeGrowth([], BOUND)).toMatchObject({ grown: 0, isGrowing: false });
});
