import { afterEach, expect, spyOn, test } from "bun:test";
import type { SkepEvent } from "../../core/events.ts";
import type { Client } from "../server/client.ts";
import { createPlainLines } from "./plain-lines.ts";
import { createReducer, initialState } from "./state.ts";

function linesOf(...events: Partial<SkepEvent>[]): string {
  const log = spyOn(console, "log").mockImplementation(() => {});
  try {
    const lines = createPlainLines({} as Client, "run_1", false, new AbortController().signal);
    for (const event of events) lines.take(event as SkepEvent);
    lines.end();
    return log.mock.calls.map(([line]) => String(line)).join("\n");
  } finally {
    log.mockRestore();
  }
}

afterEach(() => {
  process.env["TZ"] = "";
});

test("what a run waits for is shown whole: until when it waits stands at the end, in local time", () => {
  process.env["TZ"] = "Asia/Tokyo";
  const title =
    "Waits: custom-lab limits the rate (429): Rate limit reached. Please try again in 90s. It is asked again at ";
  expect(linesOf({ kind: "activity", data: { title: `${title}2026-01-01T00:01:30Z.` } })).toContain(
    `${title}2026-01-01 09:01.`,
  );
});

test("a tool's input is one short line", () => {
  const shown = linesOf({ kind: "tool_call_start", data: { tool: "write", input: { text: "long\n".repeat(200) } } });
  expect(shown.length).toBeLessThan(150);
  expect(shown).not.toContain("\n");
});

test("a command without an agent is called one", () => {
  expect(linesOf({ kind: "session_started", step_id: "test", data: {} })).toBe("▶ test (a command)");
});

test.each([
  ["budget_warning", { percent: 80 }, "$0.8100 of $1.00 is spent of the run's budget."],
  ["budget_exceeded", {}, "No room for another call: $0.8100 of $1.00 is spent of the run's budget."],
])("%s is a sentence, in lines and in the tree", (kind, more, sentence) => {
  const data = { scope: "run", subject: "run_1", limit_usd: 1, spent_usd: 0.81, resets_at: null, ...more };
  expect(linesOf({ kind, data })).toContain(sentence);
  const state = initialState([]);
  createReducer(state)({ id: 1, kind, at: "2026-01-01T00:00:00Z", data });
  expect(state.notice).toBe(sentence);
});

test("what is withdrawn is not said to be asked for again: a command begins again, and a call that was text is made", () => {
  expect(linesOf({ kind: "output_withdrawn", step_id: "test", data: {} })).toBe(
    "  ↺ test: what was shown of it last no longer counts",
  );
});
