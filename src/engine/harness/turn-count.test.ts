/** Counting the model calls that the gateway does not see, by what a program says. */
import { expect, test } from "bun:test";
import type { CallUpdate } from "./port.ts";
import { createTurnCount } from "./turn-count.ts";

/** Plays what a program says. @returns how often the limit was exceeded, and whether another prompt is allowed. */
function play(most: number, said: readonly ("words" | CallUpdate)[]) {
  let over = 0;
  const count = createTurnCount({ made: 0, most }, () => over++);
  count.prompt();
  for (const one of said)
    if (one === "words") count.say();
    else count.onCall(one);
  return { over, fits: count.prompt() };
}
const call = (id: string, status?: CallUpdate["status"]): CallUpdate => ({ id, status });
const createUpdates = (id: string) => [call(id, "pending"), call(id, "in_progress"), call(id, "completed")];

test("words, thoughts and the calls after them are one model call", () => {
  expect(play(1, ["words", "words", ...createUpdates("a")])).toEqual({ over: 0, fits: false });
  expect(play(2, ["words", ...createUpdates("a")])).toEqual({ over: 0, fits: true });
});

test("what is said after a result is the next one, with words and without", () => {
  expect(play(1, [...createUpdates("a"), "words"]).over).toBe(1);
  expect(play(1, [...createUpdates("a"), ...createUpdates("b")]).over).toBe(1);
  expect(play(1, [call("a", "failed"), "words"]).over).toBe(1);
  expect(play(2, [...createUpdates("a"), ...createUpdates("b")]).over).toBe(0);
});

test("calls that were announced together stay one model call, in whatever order they end", () => {
  const together = [call("a"), call("b"), call("b", "completed"), call("a", "in_progress"), call("a", "completed")];
  expect(play(1, together).over).toBe(0);
});

test("calls of an earlier start count", () => {
  let over = 0;
  const count = createTurnCount({ made: 3, most: 3 }, () => over++);
  expect(count.prompt()).toBe(false);
  count.say();
  expect(over).toBe(1);
});
