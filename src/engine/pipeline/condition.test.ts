import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { expectWork, processorMs } from "../../testing/busy-machine.ts";
import { CONDITION_LIMITS, type Condition, holds, parseCondition, pathsOf } from "./condition.ts";
import { ConditionError } from "./condition-tokens.ts";

const scope = {
  steps: {
    build: {
      status: "succeeded",
      outputs: { kind: "bug", count: 3, list: ["a", "b"], empty: [], text: "hello world" },
    },
    "my-step": { status: "failed" },
  },
  inputs: { flag: "true" },
};

describe("a condition", () => {
  test.each([
    ["steps.build.status == 'succeeded'", true],
    ['steps.build.status != "succeeded"', false],
    ["steps.my-step.status == 'failed'", true],
    ["steps.build.outputs.count == 3", true],
    ["steps.build.outputs.count == '3'", false],
    ["steps.build.outputs.count == 3.0 and -1.5 != 1.5", true],
    ["'a' in steps.build.outputs.list", true],
    ["'z' not in steps.build.outputs.list", true],
    ["'world' in steps.build.outputs.text", true],
    ["steps.build.outputs.kind in ['bug', 'feature']", true],
    ["steps.build.outputs.kind in []", false],
    ["steps.build.outputs.list.1 == 'b'", true],
    ["steps.build.outputs.list == ['a', 'b']", true],
    ["not steps.build.outputs.empty", true],
    ["not steps.build.status == 'failed'", true],
    ["not not true", true],
    ["true or false and false", true],
    ["(true or false) and false", false],
    ["false or false or true", true],
    ["steps.none.outputs.x == null", true],
    ["inputs.flag == true", false],
    ["'it\\'s' == \"it's\"", true],
    ["null in [null]", true],
    ["'x' in null", false],
  ])("%s is %p", (source, expected) => {
    expect(holds(parseCondition(source), scope)).toBe(expected);
  });

  test.each([
    ["", "A value is missing", 0],
    ["steps.a.status = 'x'", "==", 15],
    ["a && b", "`and`", 2],
    ["a || b", "`or`", 2],
    ["!a", "`not`", 0],
    ["{{ a }}", "without braces", 0],
    ["a == b == c", "chain", 7],
    ["(a", "parenthesis", 2],
    ["[a", "bracket", 2],
    ["a b", "left over", 2],
    ["a not b", "`in`", 2],
    ["'open", "never closed", 0],
    ["a.constructor", "not a variable", 0],
    ["a..b", "not a variable", 0],
    ["f(1)", "left over", 1],
    ["1.2.3", "not a number", 0],
    ["a;b", "means nothing", 1],
    ["`x`", "means nothing", 0],
    ["not".concat(" not".repeat(100)), "nested at most", 0],
    [`${"(".repeat(100)}a`, "nested at most", 0],
  ])("%s is refused, saying why and where", (source, message, offset) => {
    let error: unknown;
    try {
      parseCondition(source);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConditionError);
    expect((error as ConditionError).message).toContain(message);
    if (message !== "nested at most") expect((error as ConditionError).offset).toBe(offset);
  });

  test("names every path it reads", () => {
    const paths = pathsOf(parseCondition("not a.b == 1 and (c in [d.e, 'x'] or f)")).map(({ path }) => path.join("."));
    expect(paths).toEqual(["a.b", "c", "d.e", "f"]);
  });

  test("reads own properties of plain data only", () => {
    for (const path of [
      "steps.toString",
      "steps.build.outputs.list.length",
      "steps.hasOwnProperty",
      "inputs.flag.length",
    ])
      expect(holds(parseCondition(`${path} == null`), scope)).toBe(true);
  });

  test("any text is a condition or a ConditionError", () => {
    const words = fc.constantFrom(
      "a",
      "and",
      "or",
      "not",
      "in",
      "==",
      "!=",
      "(",
      ")",
      "[",
      "]",
      ",",
      "'x'",
      "1",
      " ",
      "null",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(words, { maxLength: 40 }).map((list) => list.join(" ")),
        ),
        (source) => {
          let condition: Condition;
          try {
            condition = parseCondition(source);
          } catch (error) {
            expect(error).toBeInstanceOf(ConditionError);
            return;
          }
          expect(typeof holds(condition, scope)).toBe("boolean");
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("100 kB of anything is refused at once, and the longest allowed condition is quick", () => {
    const started = processorMs();
    for (const piece of ["a", "(", "not ", "'", "a and ", "[", "1", "a.", "\\", " "])
      expect(() => parseCondition(piece.repeat(100_000))).toThrow(ConditionError);
    const longest = `${"a or ".repeat(CONDITION_LIMITS.characters / 5 - 1)}a`;
    expect(holds(parseCondition(longest), { a: 1 })).toBe(true);
    expectWork("reading them", processorMs() - started, 100);
  });
});
