import { expect, test } from "bun:test";
import { spansOf, ticksOf } from "../../web/page/run/spans.ts";

const at = (ms: number): string => new Date(ms).toISOString();
const step = (id: string, queued: number, started: number | null, finished: number | null) => ({
  ...{ id, queued_at: at(queued) },
  ...{ started_at: started === null ? null : at(started), finished_at: finished === null ? null : at(finished) },
});

test("spans are in the order in which they began, what has not begun has none, and only queues are waits", () => {
  const rows = [step("late", 5_000, 6_000, 9_000), step("first", 0, 0, 5_000), step("never", 0, null, null)];
  const { spans, whole, waited } = spansOf(rows, 0, 9_000);
  expect(spans.map((one) => [one.step.id, one.queued, one.start, one.end])).toEqual([
    ["first", 0, 0, 5_000],
    ["late", 5_000, 6_000, 9_000],
  ]);
  expect([whole, waited]).toEqual([9_000, 1_000]);
});

test("what runs lasts until now, and a clock that went back makes no negative time", () => {
  const { spans } = spansOf([step("runs", 100, 50, null), step("back", 0, 400, 300)], 0, 1_000);
  expect(spans.map(({ queued, start, end }) => [queued, start, end])).toEqual([
    [50, 50, 1_000],
    [0, 400, 400],
  ]);
});

test("an axis has a few round marks, however long the run is", () => {
  expect(ticksOf(13_000)).toEqual([0, 5_000, 10_000]);
  for (const whole of [1, 900, 60_000, 3_600_000, 40 * 86_400_000, 4_000 * 86_400_000]) {
    const ticks = ticksOf(whole);
    expect(ticks.length).toBeLessThanOrEqual(7);
    expect(ticks.at(-1)).toBeLessThanOrEqual(whole);
  }
});
