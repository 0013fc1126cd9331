import { afterEach, expect, spyOn, test } from "bun:test";
import type { SkepEvent } from "../../core/events.ts";
import type { Client } from "../server/client.ts";
import { createPlainLines } from "./plain-lines.ts";

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
