import { expect, test } from "bun:test";
import { DAY_MS, HOUR_MS } from "../../core/clock.ts";
import { roundUp, rowsOf, spanOf, sumsOf, type Timed, ticksOf } from "../../web/page/run/spans.ts";

const at = (ms: number): string => new Date(ms).toISOString();
const attempt = (id: string, times: [queued: number, started: number | null, finished: number | null], more = {}) => {
  const [queued, started, finished] = times;
  const row: Timed = {
    id,
    step_id: id,
    index: null,
    status: "succeeded",
    kind: "agent",
    visit: 1,
    queued_at: at(queued),
    started_at: started === null ? null : at(started),
    finished_at: finished === null ? null : at(finished),
  };
  return { ...row, ...more };
};
const plan = (...ids: string[]) => ids.map((id) => ({ id, name: id.toUpperCase(), status: "pending" as const }));

test("rows are in the order in which attempts began, rounds and tries say which they are, what has not begun comes last", () => {
  const attempts = [
    attempt("b", [4_000, 5_000, 6_000]),
    attempt("a", [0, 1_000, 2_000], { id: "a1" }),
    attempt("a", [2_000, 2_500, 3_000], { id: "a2", step_id: "a" }),
    attempt("a", [7_000, 8_000, null], { id: "a3", step_id: "a", visit: 2 }),
    attempt("c", [9_000, null, null], { status: "pending" }),
  ].map((one) => ({ ...one, step_id: one.id[0]! }));
  expect(rowsOf(plan("a", "b", "c", "d"), attempts).map(({ key, name, note }) => [key, name, note])).toEqual([
    ["a1", "A", ""],
    ["a2", "A", "try 2"],
    ["b", "B", ""],
    ["a3", "A", "round 2"],
    ["c", "C", ""],
    ["d", "D", ""],
  ]);
});

test("items stand below the attempt that gathers them, and many of them are folded until they are asked for", () => {
  const items = Array.from({ length: 9 }, (_, index) =>
    attempt("each", [0, 10 + index, 100], { id: `item${index}`, index }),
  );
  const attempts = [attempt("each", [0, 5, 100], { id: "parent" }), ...items, attempt("end", [100, 110, 120])];
  const rows = rowsOf(plan("each", "end"), attempts);
  expect(rows.map(({ key }) => key)).toEqual(["parent", "item0", "item1", "item2", "item3", "end"]);
  expect(rows.map(({ folded }) => folded)).toEqual([0, 0, 0, 0, 5, 0]);
  expect(rows[1]?.note).toBe("item 1");
  expect(rowsOf(plan("each", "end"), attempts, new Set(["each"]))).toHaveLength(11);
});

test("a span has its queue before it, lasts until now while it runs, and is never negative when a clock went back", () => {
  expect(spanOf(attempt("late", [5_000, 6_000, 9_000]), 1_000, 0)).toEqual({ queued: 4_000, start: 5_000, end: 8_000 });
  expect(spanOf(attempt("runs", [100, 50, null], { status: "running" }), 0, 1_000)).toEqual({
    queued: 50,
    start: 50,
    end: 1_000,
  });
  expect(spanOf(attempt("back", [0, 400, 300]), 0, 1_000)).toEqual({ queued: 0, start: 400, end: 400 });
  expect(spanOf(attempt("waits", [300, null, null], { status: "queued" }), 0, 1_000)).toEqual({
    queued: 300,
    start: 1_000,
    end: 1_000,
  });
  expect(spanOf(attempt("never", [0, null, null], { status: "pending" }), 0, 1_000)).toBeNull();
});

test("an axis has a few round marks, however long the run is, and grows in leaps", () => {
  expect(ticksOf(13_000)).toEqual([0, 5_000, 10_000]);
  for (const whole of [1, 900, 60_000, HOUR_MS, 40 * DAY_MS, 4_000 * DAY_MS]) {
    const ticks = ticksOf(whole);
    expect(ticks.length).toBeLessThanOrEqual(7);
    expect(ticks.at(-1)).toBeLessThanOrEqual(whole);
    expect(roundUp(whole)).toBeGreaterThan(whole);
  }
  expect(roundUp(61_000)).toBe(roundUp(62_000));
});

test("what an attempt waited for a provider is no time of its tools", () => {
  const waits = (waited_ms: number) => ({
    ...attempt("a", [0, 2_000, 102_000]),
    model_time: [{ from_ms: 0, to_ms: 10_000 }],
    waited_ms,
  });
  const sums = { queue: 2_000, person: 0, model: 10_000, waited: 60_000, tools: 30_000 };
  expect(sumsOf({ items: [waits(60_000)] }, 0, 200_000)).toEqual(sums);
  // Clocks can be set back: results are never more than the whole time, and never below zero.
  expect(sumsOf({ items: [waits(900_000)] }, 0, 200_000)).toMatchObject({ waited: 90_000, tools: 0 });
});
