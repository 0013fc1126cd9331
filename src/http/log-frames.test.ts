import { expect, test } from "bun:test";
import { LIMITS } from "../core/limits.ts";
import { type LogLine, logStream } from "./log-frames.ts";

test("a user who follows as many logs as a user may is told so, another is not, and a closed one makes room", async () => {
  let stopped = 0;
  const quiet = async function* (): AsyncGenerator<LogLine> {
    await new Promise(() => {});
  };
  const follow = (userId: string | undefined) =>
    logStream({ [Symbol.asyncIterator]: quiet }, { stillValid: () => true, stop: () => void stopped++, userId });
  const opened = Array.from({ length: LIMITS.logStreamsPerUser }, () => follow("ann"));
  const extras = { data: { current: LIMITS.logStreamsPerUser, limit: LIMITS.logStreamsPerUser } };
  expect(() => follow("ann")).toThrow(expect.objectContaining({ status: 429, code: "too_many_streams", extras }));
  expect(stopped).toBe(1);
  const others = [follow("ben"), follow(undefined)];
  await opened.pop()?.body?.cancel();
  opened.push(follow("ann"));
  for (const { body } of [...opened, ...others]) await body?.cancel();
  expect(stopped).toBe(LIMITS.logStreamsPerUser + 4);
});
