import { expect, test } from "bun:test";
import { factsOf } from "../../web/page/activity/facts.ts";
import { lanesOf } from "../../web/page/activity/lane-rows.ts";

const row = (kind: string, session_id?: string, data: Record<string, unknown> = {}) => ({
  kind,
  data,
  ...(session_id === undefined ? {} : { session_id }),
});
const kinds = (...rows: ReturnType<typeof row>[]) =>
  factsOf(rows).map(({ kind, session_id }) => `${kind} ${session_id}`);

test("a step that began, ended and is complete is one fact", () => {
  expect(kinds(row("step_complete", "a"), row("session_ended", "a"), row("session_started", "a"))).toEqual([
    "step_complete a",
  ]);
});

test("work that goes on shows that it began, work without a step that it ended", () => {
  expect(kinds(row("session_started", "b"), row("session_ended", "a"), row("session_started", "a"))).toEqual([
    "session_started b",
    "session_ended a",
  ]);
});

test("each answer of a chat is a fact, and so is a step that ended without a session", () => {
  expect(kinds(row("turn_ended", "c"), row("turn_ended", "c"), row("session_started", "c"))).toEqual([
    "turn_ended c",
    "turn_ended c",
  ]);
  expect(kinds(row("step_failed"), row("step_failed"))).toEqual(["step_failed undefined", "step_failed undefined"]);
});

test("what agents said stays, what the engine put into a prompt does not", () => {
  expect(kinds(row("activity", "a", { title: "x" }), row("activity", "a", { skills: ["y"] }))).toEqual(["activity a"]);
});

const second = (count: number) => new Date(count * 1000).toISOString();
const span = (agent_id: string, from: number, to: number | null) => ({
  agent_id,
  started_at: second(from),
  finished_at: to === null ? null : second(to),
});
/** The second in which each span began, by agent and row. */
const rowsOf = (spans: ReturnType<typeof span>[], least: number) =>
  lanesOf(spans, least).map(({ agent_id, rows }) => [
    agent_id,
    rows.map((row) => row.map(({ started_at }) => Date.parse(started_at) / 1000)),
  ]);

test("an agent has as many rows as it works on things at once", () => {
  expect(rowsOf([span("a", 1, 3), span("b", 1, null), span("a", 2, 4), span("a", 3, 5)], 0)).toEqual([
    ["a", [[1, 3], [2]]],
    ["b", [[1]]],
  ]);
});

test("what is shorter than a bar can be drawn is not covered by what comes next", () => {
  expect(rowsOf([span("a", 1, 2), span("a", 2, 3), span("a", 4, 5)], 3000)).toEqual([["a", [[1, 4], [2]]]]);
});

test("what finds no row is drawn over what began first", () => {
  const spans = Array.from({ length: 14 }, (_, at) => span("a", at, null));
  expect(rowsOf(spans, 0)).toEqual([["a", [[0, 12], [1, 13], ...Array.from({ length: 10 }, (_, at) => [at + 2])]]]);
});
