import { afterEach, expect, test } from "bun:test";
import { HOUR_MS, systemClock } from "./clock.ts";
import { type Clockwork, createClockwork } from "./clockwork.ts";

let clockwork: Clockwork;
afterEach(() => clockwork.stop());
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A source with a list of times; `ran` resolves once that many were run. */
function source(times: number[]) {
  const done: number[] = [];
  const waiting: (() => void)[] = [];
  let asked = 0;
  return {
    name: "list",
    done,
    times,
    countAsked: () => asked,
    nextAt() {
      asked++;
      return times.length === 0 ? null : Math.min(...times);
    },
    run() {
      const now = Date.now();
      for (const due of times.filter((at) => at <= now)) {
        times.splice(times.indexOf(due), 1);
        done.push(due);
      }
      for (const wake of waiting.splice(0)) wake();
    },
    async ran(count: number) {
      while (done.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
const open = (errors: string[] = []) => {
  clockwork = createClockwork(systemClock, (error, name) => errors.push(`${name}: ${(error as Error).message}`));
  return clockwork;
};

test("a source is run when it is due, the earlier one first, and not looked at between", async () => {
  const now = Date.now();
  const list = source([now + HOUR_MS, now + 60]);
  open().add(list);
  clockwork.start();
  await list.ran(1);
  expect(Date.now()).toBeGreaterThanOrEqual(now + 60);
  expect(list.done).toEqual([now + 60]);
  const asked = list.countAsked();
  await wait(20);
  expect(list.countAsked()).toBe(asked);
  expect(list.times).toEqual([now + HOUR_MS]);
});

test("what becomes due earlier is run earlier; before the start nothing is", async () => {
  const list = source([Date.now() + 60_000]);
  const changed = open().add(list);
  list.times.push(Date.now());
  changed();
  await wait(20);
  expect(list.done).toEqual([]);
  clockwork.start();
  await list.ran(1);
  list.times.push(Date.now() + 10);
  changed();
  await list.ran(2);
  expect(list.times).toHaveLength(1);
});

test("a source that throws does not keep others waiting, and is tried again", async () => {
  const errors: string[] = [];
  const list = source([Date.now() + 10]);
  let fails = true;
  const gate = Promise.withResolvers<void>();
  open(errors).add({
    name: "bad",
    nextAt: () => (fails ? Date.now() : null),
    run() {
      if (errors.length > 0) gate.resolve();
      fails = errors.length === 0;
      if (fails) throw new Error("no");
    },
  });
  clockwork.add(list);
  clockwork.start();
  await list.ran(1);
  await gate.promise;
  expect(errors).toEqual(["bad: no"]);
});

test("a source that has more is run again at once, when others had their turn", async () => {
  const seen: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = 3;
  const many = {
    name: "many",
    nextAt: () => (left > 0 ? Date.now() - 1 : null),
    run(again: () => void) {
      seen.push("many");
      setImmediate(() => seen.push("other"));
      if (--left > 0) again();
      else resolve();
    },
  };
  open().add(many);
  clockwork.start();
  await promise;
  expect(seen.slice(0, 5)).toEqual(["many", "other", "many", "other", "many"]);
});
