import { expect, test } from "bun:test";
import { sumsOf } from "./spans.ts";

const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
const attempt: Parameters<typeof sumsOf>[0]["items"][number] = {
  id: "step_1",
  step_id: "one",
  index: null,
  status: "succeeded",
  kind: "agent",
  visit: 1,
  queued_at: at(0),
  started_at: at(2),
  finished_at: at(102),
  model_time: [{ from_ms: 0, to_ms: 10_000 }],
  waited_ms: 60_000,
};

test("what an attempt waited for a provider is no time of its tools", () => {
  const sums = { queue: 2_000, person: 0, model: 10_000, waited: 60_000, tools: 30_000 };
  expect(sumsOf({ items: [attempt] }, 0, 200_000)).toEqual(sums);
  // Clocks are set back: never more than there was, never less than nothing.
  expect(sumsOf({ items: [{ ...attempt, waited_ms: 900_000 }] }, 0, 200_000)).toMatchObject({
    waited: 90_000,
    tools: 0,
  });
});
