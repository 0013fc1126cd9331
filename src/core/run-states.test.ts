import { describe, expect, test } from "bun:test";
import {
  assertMove,
  canMove,
  isRunEnd,
  isStepActive,
  isStepEnd,
  RUN_MOVES,
  RUN_STATUSES,
  STEP_MOVES,
  STEP_STATUSES,
} from "./run-states.ts";

describe("moves", () => {
  test("every move of a run that the table does not know throws", () => {
    for (const from of RUN_STATUSES)
      for (const to of RUN_STATUSES) {
        const known = RUN_MOVES[from].includes(to);
        expect(canMove("run", from, to)).toBe(known);
        if (known) assertMove("run", from, to);
        else expect(() => assertMove("run", from, to)).toThrow(`from ${from} to ${to}`);
      }
  });

  test("every move of a step that the table does not know throws", () => {
    for (const from of STEP_STATUSES)
      for (const to of STEP_STATUSES) {
        const known = STEP_MOVES[from].includes(to);
        expect(canMove("step", from, to)).toBe(known);
        if (known) assertMove("step", from, to);
        else expect(() => assertMove("step", from, to)).toThrow(`from ${from} to ${to}`);
      }
  });

  test("only a restart leads out of an end of a run, and nothing out of an end of a step", () => {
    expect(RUN_STATUSES.filter(isRunEnd).flatMap((status) => RUN_MOVES[status])).toEqual([
      "queued",
      "queued",
      "queued",
    ]);
    expect(STEP_STATUSES.filter(isStepEnd)).toEqual(["succeeded", "failed", "skipped", "cancelled"]);
    expect(STEP_STATUSES.filter((status) => !isStepEnd(status) && !isStepActive(status))).toEqual(["pending"]);
  });

  test("words of the language itself are no states", () => {
    expect(canMove("run", "constructor" as "queued", "running")).toBe(false);
    expect(canMove("run", "queued", "__proto__" as "running")).toBe(false);
  });

  test("every state can be reached from the first, and every end from every state on the way", () => {
    const reach = (
      from: string,
      moves: Readonly<Record<string, readonly string[]>>,
      seen = new Set<string>(),
    ): Set<string> => {
      if (seen.has(from)) return seen;
      seen.add(from);
      for (const to of moves[from] ?? []) reach(to, moves, seen);
      return seen;
    };
    expect([...reach("queued", RUN_MOVES)].sort()).toEqual([...RUN_STATUSES].sort());
    expect([...reach("pending", STEP_MOVES)].sort()).toEqual([...STEP_STATUSES].sort());
  });
});
