/**
 * A simulated day of 10,000 executions over 50 hosts, some of which are lost or drained; `scripts/bench placement`
 * prints it.
 */
import { expect, test } from "bun:test";
import { simulateDay } from "../../../testing/hosts-day.ts";

const PLAN = { seed: 7, hosts: 50, slots: 4, executions: 10_000, steps: 4, losses: 100, drains: 20 };

test("in a day of 10,000 executions over 50 hosts with 100 losses each ends once, and none begins where it should not", async () => {
  const day = await simulateDay(PLAN);
  expect(day.ends.size).toBe(PLAN.executions);
  expect(Math.max(...day.ends.values())).toBe(1);
  expect([day.onDrained, day.left, day.mostOfHost]).toEqual([0, 0, PLAN.slots]);
  // Some losses hit running work.
  expect(day.again).toBeGreaterThan(50);
  // If there is room, a step begins on the host that has its files.
  expect(day.near / (day.near + day.further)).toBeGreaterThan(0.9);
});

test("the same seed gives the same day, and too few hosts delay work and lose none", async () => {
  const small = { ...PLAN, hosts: 3, executions: 100, losses: 10, drains: 2 };
  const [one, other] = [await simulateDay(small), await simulateDay(small)];
  expect(one).toEqual(other);
  const crowded = await simulateDay({ ...small, slots: 1 });
  expect([crowded.ends.size, crowded.mostOfAll, crowded.left]).toEqual([100, 3, 0]);
  expect(crowded.waits.at(-1)).toBeGreaterThan(one.waits.at(-1)!);
});
