/** The live tree from events alone: what it says of each step, and that it stays inside the terminal. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { SkepEvent } from "../../core/events.ts";
import { expectFixture } from "../../testing/fixture.ts";
import { meaningIn } from "./approval.ts";
import { createReducer, initialState, type RunState } from "./state.ts";
import { treeLines } from "./tree.ts";

const BEGIN = Date.parse("2026-01-01T12:00:00.000Z");
const ROWS = [...["plan", "design", "agree", "build", "review"].map((step_id) => ({ step_id, index: null }))].map(
  (row) => ({
    ...row,
    kind: row.step_id === "agree" ? "approval" : "agent",
    agent_id: row.step_id === "agree" ? null : "engineer",
    status: "pending",
  }),
);

type Written = [second: number, kind: string, refs: Record<string, string>, data?: Record<string, unknown>];
function after(...events: Written[]): RunState {
  const state = initialState(ROWS);
  const take = createReducer(state);
  for (const [second, kind, refs, data = {}] of events)
    take({ id: 1, kind, at: new Date(BEGIN + second * 1_000).toISOString(), ...refs, data } as unknown as SkepEvent);
  return state;
}
const step = (name: string, session = name) => ({ step_id: name, session_id: session, agent_id: "engineer" });
const createDoneStep = (name: string, from: number, to: number): Written[] => [
  [from, "step_queued", step(name), { attempt: 1 }],
  [from, "step_started", step(name)],
  [to, "llm_call", step(name), { cost_usd: 0.0125, input_tokens: 1_000, output_tokens: 20 }],
  [to, "step_complete", step(name), { status: "succeeded" }],
];
const items = (...states: string[]): Written[] => [
  [30, "step_started", { step_id: "build", agent_id: "engineer" }],
  ...states.flatMap((state, index): Written[] => [
    [31, "step_queued", step("build", `s${index}`), { index, attempt: 1 }],
    [32, "step_started", step("build", `s${index}`), { index }],
    [
      33,
      "tool_call_start",
      step("build", `s${index}`),
      { call_id: "c", tool: "bash", input: { command: "npm test\n--watch" } },
    ],
    ...(state === "done" ? ([[40, "step_complete", step("build", `s${index}`), { index }]] as Written[]) : []),
    ...(state === "failed"
      ? ([
          [40, "step_failed", step("build", `s${index}`), { index, error: { message: "The tests fail.\x1b[2J" } }],
        ] as Written[])
      : []),
  ]),
];
const STATES: Record<string, RunState> = {
  "not started": after([0, "run_created", {}]),
  "at work, a step says something": after(
    [0, "run_created", {}],
    ...createDoneStep("plan", 0, 4.5),
    [5, "step_queued", step("design"), { attempt: 2 }],
    [5, "step_started", step("design")],
    [6, "agent_output", step("design"), { text: "First I look at the code,\nthen I think about what it sho" }],
    [7, "agent_output", step("design"), { text: `uld do ${"and what not ".repeat(12)}` }],
  ),
  "items side by side": after(
    [0, "run_created", {}],
    ...createDoneStep("plan", 0, 4.5),
    ...items("done", "busy", "failed", "busy"),
  ),
  "a person is asked, and there is a notice": after(
    [0, "run_created", {}],
    ...createDoneStep("plan", 0, 4.5),
    [61, "approval_requested", { step_id: "agree" }, { step_id: "agree", message: "Build this?" }],
    [62, "activity", {}, { title: "The container engine does not answer; it is tried again." }],
  ),
  "over, folded": after(
    [0, "run_created", {}],
    ...createDoneStep("plan", 0, 4.5),
    ...createDoneStep("design", 5, 70),
    ...items("done", "done"),
    [80, "step_complete", { step_id: "build" }],
    [80, "step_skipped", { step_id: "agree" }],
    [81, "step_failed", step("review"), { status: "failed", error: { message: "It does not hold." } }],
    [81, "run_failed", {}],
  ),
};

describe("the tree of a run", () => {
  for (const width of [80, 120])
    test(`is as it is kept in fixtures/tree-${width}.txt, and no wider than ${width} columns`, () => {
      const all = Object.entries(STATES).map(([title, state]) => {
        const lines = treeLines(state, { width, height: 20, now: BEGIN + 90_000 });
        expect(Math.max(...lines.map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(width);
        return `${title}\n${lines.join("\n")}\n`;
      });
      expectFixture(join(import.meta.dir, `fixtures/tree-${width}.txt`), all.join("\n"));
    });

  test("is never higher than the terminal: what is over and what is ahead is counted instead", () => {
    const lines = treeLines(STATES["items side by side"]!, { width: 80, height: 10, now: BEGIN });
    expect(lines.length).toBeLessThanOrEqual(10);
    expect(lines.join("\n")).toContain("1 done");
    expect(lines.join("\n")).toContain("3 not started");
    for (const height of [1, 2, 3, 5]) {
      const few = treeLines(STATES["items side by side"]!, { width: 80, height, now: BEGIN });
      expect(few.length).toBeLessThanOrEqual(height);
    }
  });

  test("holds no control character of what agents write", () => {
    for (const state of Object.values(STATES))
      expect(treeLines(state, { width: 80, height: 50, now: BEGIN }).join("")).not.toMatch(/[\x00-\x1f]/);
  });

  test("a step that is visited again starts over", () => {
    const state = after(...createDoneStep("plan", 0, 4), [9, "step_queued", step("plan", "again"), { attempt: 1 }]);
    expect(state.steps[0]).toMatchObject({ status: "queued", startedAt: undefined, cost_usd: 0.0125 });
  });
});

describe("what an answer leads to", () => {
  const steps = [
    { id: "design" },
    { id: "agree", on_failure: { goto: "design" } },
    { id: "build" },
    { id: "also", needs: ["agree"] },
    { id: "last", on_failure: "continue" },
  ];
  test("comes from the pipeline: what comes next, and what a no means", () => {
    expect(meaningIn(steps, "agree")).toEqual({ yes: "continues with build, also", no: "goes back to design" });
    expect(meaningIn(steps, "last")).toEqual({ yes: "the run succeeds", no: "the run succeeds" });
    expect(meaningIn(steps, "design")).toEqual({ yes: "continues with agree", no: "fails the run" });
    expect(meaningIn(steps, "nowhere")).toBeUndefined();
  });
});
