import { describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/clock.ts";
import { EXAMPLE } from "../../testing/pipeline-example.ts";
import { PipelineRun } from "../../testing/pipeline-run.ts";
import { pipelineGraph } from "./graph.ts";
import { plan } from "./plan.ts";
import type { RunRow } from "./rows.ts";
import { RunState } from "./run-state.ts";
import { outputsOf } from "./scope.ts";

const head = "id: p\nname: P\nsteps:\n";
/** A step that may give any outputs, unless it declares some. */
const step = (id: string, rest = "", input = "do it") => {
  const outputs = /\boutputs:|output_schema:/.test(rest) ? "" : ", output_schema: { type: object }";
  return `  - { id: ${id}, agent: a, input: ${JSON.stringify(input)}${outputs}${rest ? `, ${rest}` : ""} }\n`;
};
const start = (steps: string, run: Partial<RunRow> = {}) => new PipelineRun(head + steps, run);
const inputOf = (run: PipelineRun, name: string) => run.row(name).inputs["input"];

describe("order", () => {
  test("without needs a step follows the one above", () => {
    const run = start(step("a") + step("b") + step("c"));
    expect(run.run.status).toBe("running");
    expect(run.open).toEqual(["a"]);
    expect(run.succeed("a").open).toEqual(["b"]);
    expect(run.succeed("b").open).toEqual(["c"]);
    expect(run.succeed("c", { x: 1 }).run.status).toBe("succeeded");
    expect(run.log.at(-1)).toEqual({ kind: "finish_run", status: "succeeded", outputs: { c: { x: 1 } }, error: null });
  });

  test("steps whose needs are met run side by side, and a join waits for all", () => {
    const run = start(step("a") + step("b", "needs: [a]") + step("c", "needs: [a]") + step("d", "needs: [b, c]"));
    expect(run.succeed("a").open).toEqual(["b", "c"]);
    expect(run.succeed("c").open).toEqual(["b"]);
    expect(run.succeed("b").open).toEqual(["d"]);
  });

  test("needs: [] begins at once", () => {
    expect(start(step("a") + step("b", "needs: []")).open).toEqual(["a", "b"]);
  });

  test("outputs of a run are those of its last steps", () => {
    const run = start(step("a", "needs: []") + step("b", "needs: []") + step("c", 'needs: [b], when: "false"'));
    run.succeed("a", { x: 1 }).succeed("b", { y: 2 });
    expect(outputsOf(pipelineGraph(run.definition), new RunState(run.run, run.rows))).toEqual({
      a: { x: 1 },
      b: { y: 2 },
    });
  });

  test("what the planner is given stays as it was, and the same rows give the same decisions", () => {
    const run = start(step("a") + step("b"));
    const rows = structuredClone(run.rows).map((row) => ({ ...row, status: "succeeded" as const }));
    const frozen = rows.map((row) => Object.freeze(row));
    const once = plan(run.definition, Object.freeze({ ...run.run }), frozen, 0);
    expect(plan(run.definition, run.run, frozen, 0)).toEqual(once);
  });
});

describe("variables", () => {
  test("the input is rendered when the step is queued", () => {
    const project = { id: "proj_1", name: "Shop", default_branch: "main" };
    const run = new PipelineRun(
      `id: p\nname: P\ninputs: { issue: {} }\nsteps:\n${step("a")}${step(
        "b",
        "",
        "{{ task_description }}|{{ human_context }}|{{ project.name }}|{{ run.id }}|{{ inputs.issue }}|{{ steps.a.outputs.x }}|{{ steps.a.status }}",
      )}`,
      { project, inputs: { issue: "#7" }, human_context: "be brief" },
    );
    run.succeed("a", { x: ["1"] });
    expect(inputOf(run, "b")).toBe('the task|be brief|Shop|run_1|#7|[\n  "1"\n]|succeeded');
  });

  test("attempt and visit are 1 at the first, and say which it is now", () => {
    const steps =
      step("a", "on_failure: retry", "{{ steps.a.attempt }}.{{ steps.a.visit }}") +
      step("b", "route: { on: v, to: { again: a } }", "{{ steps.b.attempt }}.{{ steps.b.visit }} {{ steps.a.visit }}");
    const run = start(steps);
    expect(inputOf(run, "a")).toBe("1.1");
    run.fail("a");
    expect(inputOf(run, "a")).toBe("2.1");
    run.succeed("a");
    expect(inputOf(run, "b")).toBe("1.1 1");
    run.succeed("b", { v: "again" });
    expect(inputOf(run, "a")).toBe("3.2");
    run.succeed("a");
    expect(inputOf(run, "b")).toBe("2.2 2");
  });
});

describe("when", () => {
  test("a step whose condition is not true is skipped, and those after it continue", () => {
    const run = start(
      step("a") + step("b", `when: "steps.a.outputs.go == true"`) + step("c", "", "[{{ steps.b.outputs.x }}]"),
    );
    run.succeed("a", { go: false });
    expect(run.statuses).toBe("a:succeeded b:skipped c:queued");
    expect(inputOf(run, "c")).toBe("[]");
    expect(run.log).toContainEqual({ kind: "skip_step", step_id: "b", index: null, attempt: 1, reason: "when" });
  });

  test("a run in which everything is skipped succeeds", () => {
    expect(start(step("a", 'when: "false"') + step("b", 'when: "null"')).run.status).toBe("succeeded");
  });
});

describe("on_failure", () => {
  test("fail: the run fails with the step's error, and what is at work elsewhere is cancelled", () => {
    const run = start(step("a", "needs: []") + step("b", "needs: []") + step("c"));
    run.start("b");
    run.fail("a", { code: "timeout", message: "too slow" });
    expect(run.run).toMatchObject({ status: "failed", error: { code: "timeout", message: "too slow", step_id: "a" } });
    expect(run.statuses).toBe("a:failed b:cancelled c:cancelled");
  });

  test("retry: new attempts up to max_attempts, older ones stay", () => {
    const run = start(step("a", "on_failure: retry, max_attempts: 3", "{{ steps.a.error }}"));
    expect(run.fail("a").row("a")).toMatchObject({ attempt: 2, max_attempts: 3, visit: 1, status: "queued" });
    expect(inputOf(run, "a")).toBe("a failed");
    expect(run.fail("a").row("a").attempt).toBe(3);
    expect(run.fail("a").run.status).toBe("failed");
    expect(run.rows.map(({ attempt, status }) => `${attempt}:${status}`)).toEqual(["1:failed", "2:failed", "3:failed"]);
  });

  test("retry: the number comes from the step, then the pipeline, then the agent", () => {
    const attempts = (text: string, agent?: number) =>
      new PipelineRun(text, {}, agent ? { agentAttempts: new Map([["a", agent]]) } : {}).row("a").max_attempts;
    const steps = `steps:\n${step("a", "on_failure: retry")}`;
    expect(attempts(`id: p\nname: P\ndefaults: { max_attempts: 5 }\n${steps}`, 4)).toBe(5);
    expect(attempts(`id: p\nname: P\n${steps}`, 4)).toBe(4);
    expect(attempts(`id: p\nname: P\n${steps}`)).toBe(2);
    expect(attempts(`id: p\nname: P\ndefaults: { max_attempts: 5 }\nsteps:\n${step("a")}`)).toBe(1);
  });

  test("retry: a final error and a cancelled step are not tried again", () => {
    const steps = step("a", "on_failure: retry");
    expect(start(steps).fail("a", { code: "budget_exceeded", message: "spent", final: true }).run.status).toBe(
      "failed",
    );
    const stopped = start(steps);
    Object.assign(stopped.row("a"), { status: "cancelled" });
    stopped.next();
    expect([stopped.run.status, stopped.rows.length]).toEqual(["failed", 1]);
  });

  test("continue: those after it continue and can see it", () => {
    const run = start(
      step("a", "on_failure: continue") + step("b", `when: "steps.a.status == 'failed'"`, "{{ steps.a.error }}"),
    );
    run.fail("a", { code: "x", message: "no luck" });
    expect(inputOf(run, "b")).toBe("no luck");
    expect(run.succeed("b").run.status).toBe("succeeded");
  });

  test("continue does not hold for a final error", () => {
    const run = start(step("a", "on_failure: continue") + step("b"));
    expect(run.fail("a", { code: "budget_exceeded", message: "spent", final: true }).run.status).toBe("failed");
  });

  test("goto back: the target and all that depends on it get new attempts", () => {
    const run = start(step("a", "", "{{ steps.b.error }}") + step("b", "on_failure: { goto: a }") + step("c"));
    run.succeed("a").fail("b");
    expect(run.open).toEqual(["a"]);
    expect(run.row("a")).toMatchObject({ attempt: 2, visit: 2 });
    expect(run.row("b")).toMatchObject({ attempt: 2, visit: 2, status: "pending" });
    expect(run.row("c")).toMatchObject({ attempt: 1, visit: 1, status: "pending" });
    expect(inputOf(run, "a")).toBe("b failed");
    expect(run.succeed("a").succeed("b").succeed("c").run.status).toBe("succeeded");
  });

  test("goto forward: what is between is skipped", () => {
    const run = start(step("a", "on_failure: { goto: d }") + step("b") + step("c") + step("d"));
    run.fail("a");
    expect(run.statuses).toBe("a:failed b:skipped c:skipped d:queued");
    expect(run.succeed("d").run.status).toBe("succeeded");
  });

  test("goto stops after max_visits visits", () => {
    const run = start(step("a") + step("b", "on_failure: { goto: a, max_visits: 2 }"));
    run.succeed("a").fail("b").succeed("a").fail("b");
    expect(run.run).toMatchObject({ status: "failed", error: { code: "max_visits", step_id: "b" } });
    expect(run.row("a").visit).toBe(2);
  });
});

describe("route", () => {
  const loop =
    step("build", "", "{{ steps.review.outputs.feedback }}") +
    step("review", "route: { on: verdict, to: { changes: build, 1: build } }") +
    step("ship");

  test("back: a new visit that sees what was said", () => {
    const run = start(loop);
    run.succeed("build").succeed("review", { verdict: "changes", feedback: "shorter" });
    expect(run.open).toEqual(["build"]);
    expect(inputOf(run, "build")).toBe("shorter");
    run.succeed("build").succeed("review", { verdict: "approved" });
    expect(run.open).toEqual(["ship"]);
    expect(
      run.rows.filter(({ step_id }) => step_id === "build").map(({ visit, status }) => `${visit}:${status}`),
    ).toEqual(["1:succeeded", "2:succeeded"]);
  });

  test("a value that is not listed, and none at all, continue in order", () => {
    expect(start(loop).succeed("build").succeed("review", { verdict: "great" }).open).toEqual(["ship"]);
    expect(start(loop).succeed("build").succeed("review", {}).open).toEqual(["ship"]);
    expect(
      start(loop)
        .succeed("build")
        .succeed("review", { verdict: { a: 1 } }).open,
    ).toEqual(["ship"]);
    expect(start(loop).succeed("build").succeed("review", { verdict: 1 }).open).toEqual(["build"]);
  });

  test("back stops after three visits unless it says otherwise", () => {
    const run = start(loop);
    for (let visit = 0; visit < 3; visit++) run.succeed("build").succeed("review", { verdict: "changes" });
    expect(run.run.error).toEqual({
      code: "max_visits",
      step_id: "review",
      message: '"review" sends the run back to "build", which was visited 3 times, as often as allowed.',
    });
  });

  test("back to itself runs it again", () => {
    const run = start(step("a", "route: { on: more, to: { true: a } }"));
    expect(run.succeed("a", { more: true }).row("a")).toMatchObject({ visit: 2, status: "queued" });
    expect(run.succeed("a", { more: false }).run.status).toBe("succeeded");
  });

  test("back cancels what runs on another branch behind the target, and leaves alone what does not depend on it", () => {
    const run = start(
      step("a", "needs: []") +
        step("other", "needs: []") +
        step("b", "needs: [a], route: { on: v, to: { again: a } }") +
        step("c", "needs: [a]") +
        step("d", "needs: [b, c, other]"),
    );
    run.start("other");
    run.succeed("a");
    run.start("c");
    run.succeed("b", { v: "again" });
    expect(run.log).toContainEqual({ kind: "cancel_step", step_id: "c", index: null, attempt: 1, reason: "went_back" });
    expect(run.statuses).toBe("a:queued other:running b:pending c:pending d:pending");
    run.succeed("a");
    expect(run.open).toEqual(["other", "b", "c"]);
  });

  test("forward: branches that were not chosen are skipped, also where something else leads to them", () => {
    const steps =
      step("setup", "needs: []") +
      step("triage", "needs: [], route: { on: kind, to: { bug: fix, feature: design } }") +
      step("fix", "needs: [triage]") +
      step("design", "needs: [triage]") +
      step("build", "needs: [design, setup]") +
      step("review", "needs: [fix, build]");
    const bug = start(steps).succeed("setup").succeed("triage", { kind: "bug" });
    expect(bug.statuses).toBe(
      "setup:succeeded triage:succeeded fix:queued design:skipped build:skipped review:pending",
    );
    expect(bug.succeed("fix").open).toEqual(["review"]);
    const feature = start(steps).succeed("setup").succeed("triage", { kind: "feature" });
    expect(feature.open).toEqual(["design"]);
    expect(feature.row("fix").status).toBe("skipped");
    expect(feature.succeed("design").open).toEqual(["build"]);
  });

  test("forward: an earlier choice of the whole way does not undo a later one", () => {
    const run = start(
      step("first", "route: { on: v, to: { go: second } }") +
        step("between") +
        step("second", "route: { on: v, to: { skip: last } }") +
        step("left") +
        step("last"),
    );
    run.succeed("first", { v: "go" }).succeed("second", { v: "skip" });
    expect(run.statuses).toBe("first:succeeded between:skipped second:succeeded left:skipped last:queued");
  });

  test("forward by two steps side by side: a step that one of them chose runs", () => {
    const run = start(
      step("r1", "needs: [], route: { on: v, to: { x: x, y: y } }") +
        step("r2", "needs: [], route: { on: v, to: { x: x, z: z } }") +
        step("x", "needs: []") +
        step("y", "needs: []") +
        step("z", "needs: []"),
    );
    expect(run.open).toEqual(["r1", "r2"]);
    run.succeed("r1", { v: "y" });
    expect(run.open).toEqual(["r2", "y"]);
    run.succeed("r2", { v: "x" });
    expect(run.statuses).toBe("r1:succeeded r2:succeeded x:queued y:queued z:skipped");
  });

  test("going back to a step that an earlier choice left out runs it", () => {
    const run = start(
      step("triage", "route: { on: v, to: { trivial: build } }") +
        step("design") +
        step("build") +
        step("review", "route: { on: v, to: { redesign: design, retriage: triage } }"),
    );
    run.succeed("triage", { v: "trivial" });
    expect(run.statuses).toBe("triage:succeeded design:skipped build:queued review:pending");
    run.succeed("build").succeed("review", { v: "redesign" });
    expect(run.open).toEqual(["design"]);
    run.succeed("design").succeed("build").succeed("review", { v: "retriage" });
    run.succeed("triage", { v: "trivial" });
    expect(run.open).toEqual(["build"]);
    expect(run.row("design").status).toBe("skipped");
  });
});

describe("for_each", () => {
  const each = (rest = "", source = "{{ steps.a.outputs.list }}") =>
    step("a") +
    step("e", `for_each: ${JSON.stringify(source)}${rest ? `, ${rest}` : ""}`, "{{ index }}:{{ item.t }}{{ item }}") +
    step("z", "", "{{ steps.e.outputs.r }}");

  test("runs once for every item, at most max_parallel at once, and joins outputs in the order of the list", () => {
    const run = start(each("max_parallel: 2"));
    run.succeed("a", { list: ["x", "y", "z"] });
    expect(run.open).toEqual(["e[0]", "e[1]"]);
    expect(run.row("e").status).toBe("running");
    expect(inputOf(run, "e[1]")).toBe("1:y");
    run.succeed("e[1]", { r: "two" });
    expect(run.open).toEqual(["e[0]", "e[2]"]);
    run.succeed("e[2]", {}).succeed("e[0]", { r: "one", extra: 1 });
    expect(run.row("e")).toMatchObject({
      status: "succeeded",
      outputs: { r: ["one", "two", null], extra: [1, null, null] },
    });
    expect(JSON.parse(String(inputOf(run, "z")))).toEqual(["one", "two", null]);
  });

  test("with continue an item that failed leaves a gap, but a final error fails the step", () => {
    const list = { list: ["x", "y"] };
    const gap = start(each("on_failure: continue")).succeed("a", list).fail("e[0]").succeed("e[1]", { r: "two" });
    expect(gap.row("e")).toMatchObject({ status: "succeeded", outputs: { r: [null, "two"] } });
    const spent = { code: "budget_exceeded", message: "spent", final: true };
    const final = start(each("on_failure: continue")).succeed("a", list).fail("e[0]", spent);
    const statuses = [final.run.status, final.row("e").status, final.row("e[1]").status];
    expect(statuses.join()).toBe("failed,failed,cancelled");
  });

  test("an empty list succeeds with empty outputs", () => {
    const run = start(each("outputs: [r]")).succeed("a", { list: [] });
    expect(run.row("e")).toMatchObject({ status: "succeeded", outputs: { r: [] } });
    expect(run.open).toEqual(["z"]);
  });

  test("takes JSON text of a list, and a list written out", () => {
    expect(start(each()).succeed("a", { list: '["p","q"]' }).open).toEqual(["e[0]", "e[1]"]);
    expect(start(step("e", "for_each: [1, 2]")).open).toEqual(["e[0]", "e[1]"]);
  });

  test.each([
    ["text", "for_each_no_list"],
    [{ a: 1 }, "for_each_no_list"],
    [undefined, "for_each_no_list"],
    ["[broken", "for_each_no_list"],
    [JSON.stringify(Array.from({ length: 201 }, () => 1)), "for_each_too_long"],
  ])("a list that is %p fails the step", (list, code) => {
    expect(start(each()).succeed("a", { list }).run.error?.code).toBe(code);
  });

  test("the list of a step that was skipped is empty", () => {
    const run = start(step("a", 'when: "false"') + step("e", `for_each: "{{ steps.a.outputs.list }}"`));
    expect(run.run.status).toBe("succeeded");
  });

  test("a failing item fails the step and stops the others", () => {
    const run = start(each()).succeed("a", { list: [1, 2, 3, 4, 5] });
    run.start("e[0]");
    run.fail("e[1]", { code: "agent_failed", message: "no" });
    expect(run.run.error).toEqual({ code: "agent_failed", message: "Item 2: no", step_id: "e" });
    expect(run.row("e[0]").status).toBe("cancelled");
    expect(run.rows.some(({ index }) => index === 4)).toBe(false);
  });

  test("retry is per item, continue leaves a null", () => {
    const retry = start(each("on_failure: retry"))
      .succeed("a", { list: [1] })
      .fail("e[0]");
    expect(retry.row("e[0]")).toMatchObject({ attempt: 2, max_attempts: 2, status: "queued" });
    expect(retry.fail("e[0]").run.status).toBe("failed");
    const go = start(each("on_failure: continue")).succeed("a", { list: [1, 2] });
    go.fail("e[0]").succeed("e[1]", { r: 5 });
    expect(go.row("e")).toMatchObject({ status: "succeeded", outputs: { r: [null, 5] } });
  });

  test("going back over it runs all items of the new list again", () => {
    const run = start(
      step("a") + step("e", `for_each: "{{ steps.a.outputs.list }}"`) + step("r", "route: { on: v, to: { again: a } }"),
    );
    run
      .succeed("a", { list: [1, 2] })
      .succeed("e[0]")
      .succeed("e[1]")
      .succeed("r", { v: "again" });
    run.succeed("a", { list: ["only"] });
    expect(run.open).toEqual(["e[0]"]);
    expect(run.row("e[0]")).toMatchObject({ attempt: 2, visit: 2, inputs: { item: "only", index: 0 } });
    expect(run.succeed("e[0]", { x: 1 }).row("e").outputs).toEqual({ x: [1] });
  });

  test("goto of an item's failure goes back and cancels the other items", () => {
    const run = start(step("a") + step("e", `for_each: "{{ steps.a.outputs.list }}", on_failure: { goto: a }`));
    run.succeed("a", { list: [1, 2] }).fail("e[0]");
    expect(run.row("e[1]").status).toBe("cancelled");
    expect(run.open).toEqual(["a"]);
  });
});

describe("approval", () => {
  const gate = (rest = "", approval = "") =>
    step("a") +
    `  - { id: gate, approval: { message: "Ship {{ steps.a.outputs.v }}?"${approval} }${rest} }\n` +
    step("z", "", "{{ steps.gate.outputs.comment }}");

  test("asks, and the run waits for a person", () => {
    const run = start(gate()).succeed("a", { v: "1.2" });
    expect(run.row("gate").inputs).toEqual({ message: "Ship 1.2?" });
    expect(run.open).toEqual(["gate?"]);
    expect(run.run.status).toBe("waiting");
    run.answer("gate", true, "continue");
    expect(run.run.status).toBe("running");
    expect(inputOf(run, "z")).toBe("continue");
  });

  test("a run waits only when nothing else is at work", () => {
    const run = start(gate() + step("side", "needs: []"));
    run.succeed("a");
    expect(run.run.status).toBe("running");
    run.succeed("side");
    expect(run.run.status).toBe("waiting");
  });

  test("a refusal fails the run, or goes where it says", () => {
    const refused = start(gate()).succeed("a").answer("gate", false, "not today");
    expect(refused.run.error).toEqual({ code: "rejected", message: "not today", step_id: "gate" });
    const back = start(gate(", on_failure: { goto: a }")).succeed("a").answer("gate", false);
    expect(back.open).toEqual(["a"]);
    const on = start(gate(", on_failure: continue")).succeed("a").answer("gate", false, "as you like");
    expect(inputOf(on, "z")).toBe("as you like");
  });

  test("nobody answers: it fails, or counts as approved", () => {
    for (const [rule, status] of [
      ["fail", "failed"],
      ["approve", "running"],
    ] as const) {
      const run = start(gate("", `, timeout_seconds: 60, on_timeout: ${rule}`)).succeed("a");
      run.now += 59_999;
      expect(run.next()).toEqual([]);
      run.now += 1;
      run.next();
      expect(run.run.status).toBe(status);
      expect(run.row("gate").outputs).toEqual({ approved: rule === "approve", comment: "", timed_out: true });
    }
  });
});

describe("a person", () => {
  test("cancels a run: nothing is left at work, and nothing happens after", () => {
    const run = start(step("a", "needs: []") + step("e", "needs: [], for_each: [1, 2]") + step("z"));
    run.start("a");
    run.stop();
    expect(run.run.status).toBe("cancelled");
    expect(run.open).toEqual([]);
    expect(run.statuses).toBe("a:cancelled e:cancelled z:cancelled");
    expect(["a", "e", "z"].map((name) => run.row(name).error?.message)).toEqual([
      "It was stopped.",
      "It was stopped.",
      "It did not begin.",
    ]);
    expect(run.next()).toEqual([]);
  });

  test("starts a failed run again from the first step that has not succeeded", () => {
    const run = start(step("a") + step("b") + step("c", "", "{{ steps.a.outputs.x }}{{ steps.b.outputs.y }}"));
    run.succeed("a", { x: "kept" }).fail("b").restart();
    expect(run.open).toEqual(["b"]);
    expect(run.run).toMatchObject({ status: "running", error: null });
    expect(run.row("b")).toMatchObject({ attempt: 2, visit: 1 });
    run.succeed("b", { y: "new" });
    expect(inputOf(run, "c")).toBe("keptnew");
    expect(run.rows.filter(({ step_id }) => step_id === "a").length).toBe(1);
  });

  test("starts again from a step: its earlier outputs and those after it are dropped", () => {
    const run = start(
      step("a", "", "{{ steps.c.outputs.z }}") +
        step("b") +
        step("c", "route: { on: v, to: { again: a } }") +
        step("d"),
    );
    run.succeed("a", { x: 1 }).succeed("b").succeed("c", { z: "old" }).fail("d").restart("a");
    expect(run.open).toEqual(["a"]);
    expect(inputOf(run, "a")).toBe("");
    expect(run.statuses).toBe("a:queued b:pending c:pending d:pending");
  });

  test("starts a cancelled run again, also one whose items were at work", () => {
    const run = start(step("a") + step("e", "for_each: [1, 2]"));
    run.succeed("a").succeed("e[0]");
    run.stop();
    run.restart();
    expect(run.open).toEqual(["e[0]", "e[1]"]);
    expect(run.row("e[0]").attempt).toBe(2);
  });

  test("a step that was cancelled runs again, also one whose failure would be let pass", () => {
    const run = start(step("a", "on_failure: continue") + step("b"));
    run.start("a");
    run.stop();
    expect(run.restart().open).toEqual(["a"]);
  });

  test("a failure that was let pass is not made again", () => {
    const run = start(step("a", "on_failure: continue") + step("b"));
    run.fail("a").fail("b").restart();
    expect(run.open).toEqual(["b"]);
  });

  test("a run that went back too often goes back once more", () => {
    const run = start(step("a") + step("b", "route: { on: v, to: { again: a }, max_visits: 1 }"));
    run.succeed("a").succeed("b", { v: "again" });
    expect(run.run.error?.code).toBe("max_visits");
    run.restart();
    expect(run.open).toEqual(["a"]);
    expect(run.row("a")).toMatchObject({ attempt: 2, visit: 1 });
  });

  test("of a run that succeeded begins again the named step and what depends on it, nothing else", () => {
    const run = start(step("a") + step("b") + step("c", "needs: [b]") + step("d", "needs: [a]"));
    run.succeed("a").succeed("b").succeed("d").succeed("c");
    expect(run.run.status).toBe("succeeded");
    run.restart("b");
    expect(run.open).toEqual(["b"]);
    run.succeed("b").succeed("c");
    expect(run.run.status).toBe("succeeded");
    expect([run.row("a").attempt, run.row("b").attempt, run.row("c").attempt, run.row("d").attempt]).toEqual([
      1, 2, 2, 1,
    ]);
  });

  test("starts nothing again that succeeded or still runs, nor from a step that does not exist", () => {
    const run = start(step("a"));
    run.restart();
    expect(run.log.some(({ kind }) => kind === "supersede_step")).toBe(false);
    run.succeed("a").restart();
    expect(run.run.status).toBe("succeeded");
    const failed = start(step("a")).fail("a").restart("nope");
    expect(failed.run.status).toBe("failed");
  });
});

describe("the example of the format", () => {
  test("goes back for changes, then past `each` to the approval, and succeeds", () => {
    const run = new PipelineRun(EXAMPLE);
    run.succeed("design", { design: "D", tasks: [{ title: "t" }] });
    expect(inputOf(run, "build")).toBe("Build D  ");
    run.fail("build").succeed("build");
    run.succeed("review", { verdict: "changes", feedback: "F" });
    expect(inputOf(run, "build")).toBe("Build D  F");
    expect(run.row("build")).toMatchObject({ attempt: 3, max_attempts: 4, visit: 2 });
    run.succeed("build").succeed("review", { verdict: "approved" });
    expect(run.statuses).toBe("design:succeeded build:succeeded review:succeeded each:skipped ship:waiting");
    expect(run.run.status).toBe("waiting");
    run.answer("ship", true);
    expect(run.run.status).toBe("succeeded");
    expect(run.log.at(-1)).toMatchObject({ outputs: { ship: { approved: true } } });
  });

  test("fails when nobody answers within a day", () => {
    const run = new PipelineRun(EXAMPLE);
    run.succeed("design", { design: "D", tasks: [] }).succeed("build").succeed("review", { verdict: "approved" });
    run.now += DAY_MS;
    run.next();
    expect(run.run.error?.code).toBe("approval_timeout");
  });
});
