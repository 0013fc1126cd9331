import { expect, test } from "bun:test";
import { logStream } from "./log-frames.ts";

test("a log's stream ends at the first line after its reader's credential has ended, and shows none of it", async () => {
  let valid = true;
  let stopped = 0;
  async function* lines() {
    yield { stream: "stdout", text: "before" };
    valid = false;
    yield { stream: "stdout", text: "after" };
    yield { stream: "stdout", text: "much later" };
  }
  const response = logStream(lines(), { stillValid: () => valid, stop: () => void stopped++ });
  const text = await response.text();
  expect([text.includes("before"), text.includes("after"), text.includes("event: end")]).toEqual([true, false, false]);
  expect(stopped).toBe(1);
});
