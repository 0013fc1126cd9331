import { expect, test } from "bun:test";
import { DAY_MS } from "./clock.ts";
import { attemptsOver, waitAfter } from "./jobs.ts";

const waited = (attempts: number): number =>
  Array.from({ length: attempts - 1 }, (_, i) => waitAfter(i + 1)).reduce((sum, ms) => sum + ms, 0);

test("attempts over a time wait that long, and one attempt fewer would not", () => {
  expect(attemptsOver(0)).toBe(1);
  for (const ms of [1, 1_000, 60_000, DAY_MS]) {
    expect(waited(attemptsOver(ms))).toBeGreaterThanOrEqual(ms);
    expect(waited(attemptsOver(ms) - 1)).toBeLessThan(ms);
  }
});
