import { expect, test } from "bun:test";
import { DAY_MS } from "./clock.ts";
import { attemptsOver, waitAfter } from "./jobs.ts";

const sumWaits = (attempts: number): number =>
  Array.from({ length: attempts - 1 }, (_, i) => waitAfter(i + 1)).reduce((sum, ms) => sum + ms, 0);

test("attempts over a time wait that long, and one attempt fewer would not", () => {
  expect(attemptsOver(0)).toBe(1);
  for (const ms of [1, 1_000, 60_000, DAY_MS]) {
    expect(sumWaits(attemptsOver(ms))).toBeGreaterThanOrEqual(ms);
    expect(sumWaits(attemptsOver(ms) - 1)).toBeLessThan(ms);
  }
});
