import { expect, test } from "bun:test";
import { lanesOf } from "../../web/page/home/lanes.ts";
import { addStep, changeStep, readStep, removeStep } from "../../web/page/pipelines/step-text.ts";

const SOURCE = `# What the team agreed on.
id: two
name: Two
steps:
  - id: look # first of all
    agent: researcher
    input: |
      Look at {{ task_description }}.
      Then say what you saw.
  - id: say
    agent: scribe
    needs: [look]
    input: "Say it."
`;

test("a step that is changed leaves the rest of the text, its comments too, as it was written", () => {
  const changed = changeStep(SOURCE, "say", {
    agent: "lead",
    input: "One.\nTwo.\n",
    outputs: ["text"],
    needs: ["look"],
  });
  expect(changed).toBe(
    SOURCE.replace("agent: scribe", "agent: lead").replace(
      'input: "Say it."\n',
      "input: |\n      One.\n      Two.\n    outputs: [text]\n",
    ),
  );
  expect(changeStep(SOURCE, "look", { agent: "researcher", model: "" })).toBe(SOURCE);
  expect(changeStep(SOURCE, "none", { agent: "lead" })).toBe(SOURCE);
});

test("a step is added at the end and read back, and a removed one is needed by nobody", () => {
  const added = addStep(SOURCE, { id: "ask", approval: { message: "Well?" }, when: "" });
  expect(readStep(added, "ask")).toEqual({ id: "ask", approval: { message: "Well?" } });
  const removed = removeStep(added, "look");
  expect(readStep(removed, "look")).toBeUndefined();
  expect(readStep(removed, "say")).toEqual({ id: "say", agent: "scribe", needs: [], input: "Say it." });
});

test("a text that is no pipeline stays as it is", () => {
  for (const text of ["", "steps: [", "steps: 3", "- a", "a: *b"]) {
    expect(changeStep(text, "a", { name: "b" })).toBe(text);
    expect(addStep(text, { id: "a" })).toBe(text);
    expect(removeStep(text, "a")).toBe(text);
  }
});

test("steps at the same time stand in lines of their own, four at most", () => {
  const step = (from: number, to: number | null) => ({
    step_id: String(from),
    name: "",
    status: "succeeded" as const,
    person: false,
    started_at: new Date(from).toISOString(),
    finished_at: to === null ? null : new Date(to).toISOString(),
  });
  const { bars, lanes } = lanesOf([step(0, 500), step(500, null), step(600, 700)], 0, 1_000);
  expect(lanes).toBe(2);
  expect(bars.map(({ lane, left, width }) => [lane, left, width])).toEqual([
    [0, 0, 50],
    [0, 50, 50],
    [1, 60, 10],
  ]);
  expect(
    lanesOf(
      Array.from({ length: 9 }, () => step(0, null)),
      0,
      10,
    ).lanes,
  ).toBe(4);
  expect(lanesOf([], 0, 10)).toEqual({ bars: [], lanes: 1 });
});
