import { describe, expect, test } from "bun:test";
import { logText } from "./log-text.ts";

const line = (entry: object) => JSON.stringify({ level: 30, time: "2026-01-01T12:00:00.000Z", ...entry });
const formatEntry = (entry: object) => logText(line(entry), false).slice(9);

describe("the log for people", () => {
  test("is a line: time, level, what happened, what it is about", () => {
    expect(logText(line({ msg: "listening" }), false)).toMatch(/^\d\d:\d\d:\d\d info {2}listening\n$/);
    expect(formatEntry({ level: 40, msg: "slow", path: "/v1/runs", ms: 12 })).toBe(
      "warn  slow  path=/v1/runs  ms=12\n",
    );
    expect(formatEntry({ msg: "a", detail: "two words", list: [1] })).toBe('info  a  detail="two words"  list=[1]\n');
  });

  test("says why, with the stack only where nobody expected it", () => {
    const err = { message: "It broke.", stack: "Error: It broke.\n    at x" };
    expect(formatEntry({ level: 40, msg: "retrying", err })).toBe("warn  retrying  It broke.\n");
    expect(formatEntry({ level: 50, msg: "failed", err })).toBe("ERROR failed  \n  Error: It broke.\n      at x\n");
    expect(formatEntry({ level: 50, msg: "failed", err: { ...err, code: "image_missing" } })).toBe(
      "ERROR failed  It broke.\n",
    );
  });

  test("lets nothing from outside move the cursor or begin a line", () => {
    const text = logText(line({ msg: "a\n12:00:00 info forged\x1b[2J", path: "b\r\nc\x9b1A" }), false);
    expect(text.match(/\n/g)).toHaveLength(1);
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  });

  test("leaves what is not JSON as it is", () => {
    expect(logText("plain\n", true)).toBe("plain\n");
  });
});
