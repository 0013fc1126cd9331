/** The report of an ended run: its outputs, and the list of its steps. */
import { expect, test } from "bun:test";
import { notFound } from "../../core/errors.ts";
import { partsBelow } from "../resource/runs.ts";
import type { RunView } from "./follow.ts";
import { followedLines, reportLines } from "./report.ts";

const run = (outputs: Record<string, unknown>) =>
  ({
    id: "run_1",
    status: "succeeded",
    outputs,
    error: null,
    branch: null,
    project_id: null,
    cost_usd: 0,
    calls_without_price: 0,
    tokens: 12,
  }) as unknown as RunView;
const formatOutputs = (outputs: Record<string, unknown>) => reportLines(run(outputs)).slice(1, -1);

test("each output of a step is a line; what is empty is left out, what is not text stays JSON", () => {
  const check = { verdict: "approved", findings: [], feedback: "", files: ["a.ts"], note: "one\ntwo" };
  expect(formatOutputs({ check })).toEqual([
    "  check:",
    "    verdict: approved",
    '    files: ["a.ts"]',
    "    note: one\n      two",
  ]);
});

test("an output named like its step is one line, and so is what is no group of outputs", () => {
  expect(formatOutputs({ summary: { summary: "There is a greeting.", follow_ups: [] } })).toEqual([
    "  summary: There is a greeting.",
  ]);
  expect(formatOutputs({ count: 3 })).toEqual(["  count: 3"]);
});

test("a run that waits says what for, and until when in local time", () => {
  const waiting = { ...run({}), status: "waiting", waiting_reason: "It is asked again at 2026-01-01T00:01:30Z." };
  expect(reportLines(waiting as RunView)).toEqual([
    "waiting: run_1",
    expect.stringMatching(/^ {2}waits: It is asked again at (2025-12-31|2026-01-01) \d\d:\d\d\.$/),
  ]);
});

test("parts of a loop are listed below the step that they are parts of", () => {
  const steps = [
    { step_id: "plan" },
    { step_id: "build" },
    { step_id: "review" },
    { step_id: "build", index: 0 },
    { step_id: "build", index: 1 },
  ];
  expect(partsBelow(steps).map(({ step_id, index }) => `${step_id}${index ?? ""}`)).toEqual(
    "plan build build0 build1 review".split(" "),
  );
});

test("a run whose repository could not be cloned has no changes to look at or to merge", async () => {
  const failed = { ...run({}), status: "failed", branch: "run/run_1", project_id: "proj_1" } as RunView;
  const client = { data: undefined, call: () => Promise.reject(notFound("repository")) };
  expect((await followedLines(failed, client, false)).slice(-2)).toEqual([
    "next: skep restart run_1",
    "      skep runs run_1",
  ]);
});
