import { describe, expect, test } from "bun:test";
import { type Failure, retryAfterMs } from "./failure.ts";
import { MODEL_LIMITS } from "./limits.ts";
import { backoffMs } from "./retries.ts";
import { createScrubber } from "./scrubber.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

describe("Retry-After", () => {
  test("is read as seconds, as a date, and in OpenAI's milliseconds; nonsense is nothing", () => {
    expect(retryAfterMs({ "retry-after": "7" }, NOW)).toBe(7000);
    expect(retryAfterMs({ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, NOW)).toBe(30_000);
    expect(retryAfterMs({ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, NOW)).toBe(0);
    expect(retryAfterMs({ "retry-after": "9", "retry-after-ms": "250" }, NOW)).toBe(250);
    for (const value of ["soon", "", "-3"]) expect(retryAfterMs({ "retry-after": value }, NOW)).toBeUndefined();
    expect(retryAfterMs(undefined, NOW)).toBeUndefined();
  });
});

describe("back-off", () => {
  const failure = (more: Partial<Failure> = {}): Failure => ({
    code: "provider_error",
    message: "",
    retryable: true,
    ...more,
  });
  const limits = { ...MODEL_LIMITS, backoffMs: 100, backoffMaxMs: 1000, retryAfterMaxMs: 5000 };

  test("doubles up to its ceiling, drawn between half and all", () => {
    expect([1, 2, 3, 9].map((made) => backoffMs(limits, made, failure(), 1))).toEqual([100, 200, 400, 1000]);
    expect([1, 2, 3, 9].map((made) => backoffMs(limits, made, failure(), 0))).toEqual([50, 100, 200, 500]);
  });

  test("waits at least what is asked, and not at all when that is too long or nothing may be tried again", () => {
    expect(backoffMs(limits, 1, failure({ retryAfterMs: 5000 }), 0)).toBe(5000);
    expect(backoffMs(limits, 1, failure({ retryAfterMs: 5001 }))).toBeUndefined();
    expect(backoffMs(limits, 1, failure({ retryable: false }))).toBeUndefined();
    expect(backoffMs(limits, 1, failure({ code: "provider_timeout" }))).toBeUndefined();
  });
});

describe("the scrubber", () => {
  test("removes the key in every form, and other things that look like keys", () => {
    const key = "abc+def/ghi=jkl mno";
    const scrub = createScrubber(key);
    const forms = [key, encodeURIComponent(key), Buffer.from(key).toString("base64"), JSON.stringify(key)];
    for (const form of forms)
      expect(scrub(`before ${form} after`)).toMatch(/^before "?\[secret:provider-key\]"? after$/);
    for (const shape of ["sk-proj-abcdefgh1234", "sk-ab***********wxyz", "AIzaSyA1234567890", "Bearer abc.def-123"])
      expect(scrub(`Incorrect key: ${shape}.`)).not.toContain(shape);
    expect(scrub("the task-runner asks")).toBe("the task-runner asks");
  });

  test("cuts what is long", () => {
    expect(createScrubber(undefined)("x".repeat(10_000)).length).toBeLessThan(600);
  });
});
