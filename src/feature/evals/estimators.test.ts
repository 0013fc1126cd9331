import { expect, test } from "bun:test";
import fc from "fast-check";
import { passAllK, passAtK } from "./estimators.ts";

/** Counts all ways to choose k of n attempts, of which the first c passed. */
function countWays(n: number, c: number, k: number): { some: number; all: number } {
  let [ways, some, all] = [0, 0, 0];
  for (let chosen = 0; chosen < 2 ** n; chosen++) {
    const picks = Array.from({ length: n }, (_, at) => at).filter((at) => chosen & (1 << at));
    if (picks.length !== k) continue;
    ways++;
    if (picks.some((at) => at < c)) some++;
    if (picks.every((at) => at < c)) all++;
  }
  return { some: some / ways, all: all / ways };
}

test("pass@k and pass^k are what counting every choice of k attempts gives", () => {
  const cases = fc
    .integer({ min: 1, max: 9 })
    .chain((n) => fc.tuple(fc.constant(n), fc.integer({ min: 0, max: n }), fc.integer({ min: 1, max: n })));
  fc.assert(
    fc.property(cases, ([n, c, k]) => {
      const { some, all } = countWays(n, c, k);
      expect(passAtK(n, c, k)).toBeCloseTo(some, 10);
      expect(passAllK(n, c, k)).toBeCloseTo(all, 10);
    }),
  );
});

test("many attempts are no problem", () => {
  expect(passAtK(1_000, 500, 100)).toBeCloseTo(1, 6);
  expect(passAllK(1_000, 1_000, 100)).toBe(1);
});
