import { describe, expect, test } from "bun:test";
import { isProblem } from "../../core/errors.ts";
import { checkPlan } from "./plan.ts";

const task = (key: string, ...depends_on: string[]) => ({ key, depends_on });
/** The field and the message of the fault. */
function faultOf(...tasks: ReturnType<typeof task>[]): [string | undefined, string | undefined] {
  try {
    checkPlan(tasks);
    return [undefined, undefined];
  } catch (error) {
    if (!isProblem(error) || error.status !== 422) throw error;
    const [field] = error.extras.errors ?? [];
    return [field?.pointer, field?.message];
  }
}

describe("the plan of a swarm", () => {
  test.each([
    [1, [task("a")]],
    [1, [task("a"), task("b"), task("c")]],
    [3, [task("c", "b"), task("b", "a"), task("a")]],
    [3, [task("a"), task("b", "a"), task("c", "a"), task("d", "b", "c")]],
  ])("has %d tasks in its longest chain, in whatever order they are written", (depth, tasks) => {
    expect(checkPlan(tasks)).toBe(depth);
  });

  test("names the field of what does not fit", () => {
    expect(faultOf(task("a"), task("b"), task("a"))).toEqual(["/tasks/2/key", "a is the key of task 1 already."]);
    expect(faultOf(task("a", "a"))).toEqual(["/tasks/0/depends_on/0", "a cannot depend on itself."]);
    expect(faultOf(task("a"), task("b", "a", "a"))).toEqual(["/tasks/1/depends_on/1", "a occurs twice."]);
    expect(faultOf(task("lint"), task("b", "lint", "none"))[0]).toBe("/tasks/1/depends_on/1");
    expect(faultOf(task("lint"), task("b", "linr"))[1]).toContain("There is no task linr in this swarm. Did you mean");
  });

  test("names a cycle, and not the tasks that depend on it", () => {
    expect(faultOf(task("behind", "a"), task("a", "c"), task("b", "a"), task("c", "b"), task("free"))).toEqual([
      "/tasks/1/depends_on",
      "These tasks wait for each other: a → c → b → a.",
    ]);
  });
});
