import { expect, test } from "bun:test";
import { createFairTurns } from "./fair-turns.ts";

test("work that becomes ready together continues one by one, in order, with rounds of the event loop in between", async () => {
  const turn = createFairTurns();
  const order: string[] = [];
  let rounds = 0;
  const round = () => {
    rounds++;
    order.push("loop");
    if (rounds < 20) setImmediate(round);
  };
  setImmediate(round);
  const work = async (name: string) => {
    await turn();
    order.push(name);
  };
  await Promise.all(["a", "b", "c", "d"].map(work));
  expect(order.filter((name) => name !== "loop")).toEqual(["a", "b", "c", "d"]);
  for (const [one, next] of [
    ["a", "b"],
    ["b", "c"],
    ["c", "d"],
  ] as const)
    expect(order.slice(order.indexOf(one), order.indexOf(next))).toContain("loop");
});
