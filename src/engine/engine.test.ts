import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LOCAL_ADMIN } from "../http/caller.ts";
import { createAnsweringModel } from "../testing/answering-model.ts";
import { createRigs } from "../testing/engine-rig.ts";

const { startRig, close } = createRigs();
afterEach(close);
const HOST_SHELL = { ALLOW_HOST_SHELL: "true" };

const TWO_STEPS = `
id: two
name: Two
steps:
  - id: write
    agent: worker
    input: "Write {{ task_description }}"
    outputs: [path]
  - id: check
    agent: worker
    input: "Check {{ steps.write.outputs.path }}"
    outputs: [verdict]
`;
const TWO_SCRIPT = `
steps:
  write:
    - text: I write it.
      tool_calls: [{ tool: write, input: { path: a.txt, content: hello } }]
    - tool_calls: [{ tool: complete, input: { outputs: { path: a.txt }, summary: written } }]
  check:
    - tool_calls: [{ tool: read, input: { path: a.txt } }]
    - tool_calls: [{ tool: complete, input: { outputs: { verdict: good }, summary: checked } }]
`;

describe("engine", () => {
  test("a run of two steps ends with the outputs of the last, its files written, its events in order", async () => {
    const rig = await startRig({ pipelines: { two: TWO_STEPS }, script: TWO_SCRIPT });
    const run = rig.create("two", "a greeting");
    expect(run.status).toBe("running");
    const ended = await rig.waitForEnd(run.id);
    expect(ended).toMatchObject({ status: "succeeded", error: null, outputs: { check: { verdict: "good" } } });
    expect(readFileSync(join(rig.workspaceOf(run.id), "a.txt"), "utf8")).toBe("hello");
    expect(rig.steps(run.id).map(({ step_id, status, inputs }) => [step_id, status, inputs["input"]])).toEqual([
      ["write", "succeeded", "Write a greeting"],
      ["check", "succeeded", "Check a.txt"],
    ]);
    const kinds = rig
      .events()
      .filter(({ run_id }) => run_id === run.id)
      .map(({ kind }) => kind)
      .filter((kind) => kind !== "agent_output");
    const step = [
      "step_queued",
      "session_started",
      "step_started",
      "llm_call",
      "tool_call_start",
      "tool_call_end",
      "llm_call",
      "tool_call_start",
      "tool_call_end",
      "session_ended",
      "step_complete",
    ];
    expect(kinds).toEqual(["run_created", ...step, ...step, "run_complete"] as typeof kinds);
    expect(rig.calls()).toBe(4);
  });

  test("complete without the outputs that the step must give is refused, and the agent may try again", async () => {
    const script = `
steps:
  write:
    - tool_calls: [{ tool: complete, input: { summary: no outputs } }]
    - tool_calls: [{ tool: complete, input: { outputs: { path: b.txt }, summary: now } }]
  check:
    - tool_calls: [{ tool: complete, input: { outputs: { verdict: good }, summary: checked } }]
`;
    const rig = await startRig({ pipelines: { two: TWO_STEPS }, script });
    const run = rig.create("two");
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "succeeded" });
    const refused = rig.events().find(({ kind, data }) => kind === "tool_call_end" && data["tool"] === "complete");
    expect(refused?.data).toMatchObject({ ok: false });
  });

  test("a step whose agent fails fails the run, and a restart continues from that step only", async () => {
    const fails = TWO_SCRIPT.replace(
      / {2}check:[\s\S]*/,
      "  check:\n    - tool_calls: [{ tool: fail, input: { reason: it is bad } }]\n",
    );
    const rig = await startRig({ pipelines: { two: TWO_STEPS }, script: fails });
    const run = rig.create("two");
    const failed = await rig.waitForEnd(run.id);
    expect(failed).toMatchObject({
      status: "failed",
      error: { code: "agent_failed", message: "it is bad", step_id: "check" },
    });
    const again = rig.services.runs.restart(run.id, { human_context: "look again" }, LOCAL_ADMIN);
    expect(again).toMatchObject({ status: "running", restarted_from: "check", human_context: "look again" });
    const sessions = await rig.event(
      ({ kind, id, run_id }) =>
        kind === "run_failed" && run_id === run.id && id > rig.events().find((one) => one.kind === "run_restarted")!.id,
    );
    expect(sessions).toBeDefined();
    expect(rig.steps(run.id).map(({ step_id, attempt, superseded }) => [step_id, attempt, superseded])).toEqual([
      ["write", 1, false],
      ["check", 1, true],
      ["check", 2, false],
    ]);
  });

  test("cancelling stops a running tool and leaves everything cancelled", async () => {
    const script = "default:\n  - tool_calls: [{ tool: bash, input: { command: sleep 600 } }]\n";
    const rig = await startRig({ pipelines: { two: TWO_STEPS }, script, env: HOST_SHELL });
    const run = rig.create("two");
    await rig.event(({ kind, data }) => kind === "tool_call_start" && data["tool"] === "bash");
    rig.services.runs.cancel(run.id, LOCAL_ADMIN);
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "cancelled" });
    while (rig.services.engine.active() > 0) await Bun.sleep(5);
    expect(rig.steps(run.id).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
    expect(() => rig.services.runs.cancel(run.id, LOCAL_ADMIN)).toThrow("already");
  });

  test("a granted secret's value never reaches transcript, events or outputs", async () => {
    const secret = "s3cret-value-0123456789";
    const script = `
steps:
  write:
    - tool_calls: [{ tool: bash, input: { command: "echo $MY_SECRET; printf %s $MY_SECRET | cut -c1-10; printf %s $MY_SECRET | cut -c11-" } }]
    - text: "It says {{ last_tool_output }}"
      tool_calls: [{ tool: complete, input: { outputs: { path: "{{ last_tool_output }}" }, summary: done } }]
  check:
    - tool_calls: [{ tool: complete, input: { outputs: { verdict: good }, summary: checked } }]
`;
    const rig = await startRig({ pipelines: { two: TWO_STEPS }, script, env: HOST_SHELL });
    rig.services.secrets.create({ name: "MY_SECRET", secret_type: "token", value: secret }, LOCAL_ADMIN);
    rig.services.secrets.grant("MY_SECRET", "worker", LOCAL_ADMIN);
    const run = rig.create("two");
    const ended = await rig.waitForEnd(run.id);
    expect(ended.status).toBe("succeeded");
    const rows = ["executions", "messages", "tool_calls", "steps", "runs", "events"].map((table) =>
      rig.store.sqlite.prepare(`SELECT * FROM ${table}`).all(),
    );
    expect(JSON.stringify([rows, ended])).not.toContain(secret);
    expect(JSON.stringify(rows)).toContain("[secret:MY_SECRET]");
  });

  test("an approval waits for a person, whose answer the next step sees", async () => {
    const pipeline = `
id: asks
name: Asks
steps:
  - id: ask
    approval: { message: "Ship {{ task_description }}?" }
  - id: ship
    agent: worker
    input: "Ship: {{ steps.ask.outputs.comment }}"
`;
    const rig = await startRig({
      pipelines: { asks: pipeline },
      script: "default:\n  - tool_calls: [{ tool: complete, input: { summary: shipped } }]\n",
    });
    const run = rig.create("asks", "it");
    expect(run.status).toBe("waiting");
    const asked = await rig.event(({ kind }) => kind === "approval_requested");
    expect(asked.data["message"]).toBe("Ship it?");
    rig.services.runs.approve(run.id, { step_id: "ask", approved: true, comment: "gently" }, LOCAL_ADMIN);
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "succeeded" });
    expect(rig.steps(run.id).at(-1)).toMatchObject({ inputs: { input: "Ship: gently" }, text: "shipped" });
    expect(() => rig.services.runs.approve(run.id, { step_id: "ask", approved: true }, LOCAL_ADMIN)).toThrow(
      "does not wait",
    );
  });

  test("for_each runs an agent for every item and joins what they give", async () => {
    const pipeline = `
id: each
name: Each
steps:
  - id: items
    agent: worker
    for_each: [a, b, c]
    max_parallel: 2
    input: "Do {{ item }} ({{ index }})"
    outputs: [done]
`;
    const script =
      "steps:\n  items:\n    - tool_calls: [{ tool: complete, input: { outputs: { done: '{{ user }}' }, summary: ok } }]\n";
    const rig = await startRig({ pipelines: { each: pipeline }, script });
    const run = rig.create("each");
    const ended = await rig.waitForEnd(run.id);
    expect(ended.status).toBe("succeeded");
    expect(JSON.stringify(ended.outputs)).toContain("Do c (2)");
    expect(rig.steps(run.id).filter(({ item_index }) => item_index !== null)).toHaveLength(3);
  });

  test("a budget that is used up stops the run before the next call and says which", async () => {
    const { port } = createAnsweringModel(() => ({ outputs: { path: "a.txt" } }), { costUsd: 0.6 });
    const rig = await startRig({ pipelines: { two: TWO_STEPS }, models: port });
    rig.services.settings.update({ budgets: { run_usd: 1 } }, LOCAL_ADMIN);
    const run = rig.create("two");
    expect(await rig.waitForEnd(run.id)).toMatchObject({
      status: "failed",
      error: { code: "budget_exceeded", step_id: "check" },
    });
    expect(rig.calls()).toBe(1);
  });

  test("a step takes no longer than its time, and more turns than allowed are a failure", async () => {
    const slow = TWO_STEPS.replace("outputs: [path]", "outputs: [path]\n    timeout_seconds: 1");
    const rig = await startRig({
      pipelines: { slow: slow.replace("id: two", "id: slow"), two: TWO_STEPS },
      script: "default:\n  - text: hm\n    delay_ms: 30000\n",
      agents: { worker: "---\nmax_turns: 3\n---\nYou work." },
    });
    const late = await rig.waitForEnd(rig.create("slow").id);
    expect(late).toMatchObject({ status: "failed", error: { code: "timeout" } });
    const endless = await startRig({
      pipelines: { two: TWO_STEPS },
      script:
        "default:\n  - tool_calls: [{ tool: ls, input: { path: . } }]\n  - tool_calls: [{ tool: ls, input: { path: . } }]\n  - tool_calls: [{ tool: ls, input: { path: . } }]\n  - text: x\n",
      agents: { worker: "---\nmax_turns: 3\n---\nYou work." },
    });
    expect(await endless.waitForEnd(endless.create("two").id)).toMatchObject({
      status: "failed",
      error: { code: "turns_exceeded" },
    });
  });

  test("a stop gives work back, and the next start continues without running a finished tool again", async () => {
    const script = `
steps:
  write:
    - tool_calls: [{ tool: bash, input: { command: "echo once >> log; sleep 0.1" } }]
    - tool_calls: [{ tool: bash, input: { command: "touch started; sleep 1" } }]
    - tool_calls: [{ tool: complete, input: { outputs: { path: log }, summary: ok } }]
  check:
    - tool_calls: [{ tool: complete, input: { outputs: { verdict: good }, summary: checked } }]
`;
    const rig = await startRig({ pipelines: { two: TWO_STEPS }, script, env: HOST_SHELL });
    const run = rig.create("two");
    await rig.event(
      ({ kind, data }) => kind === "tool_call_start" && JSON.stringify(data["input"]).includes("started"),
    );
    await rig.stop();
    expect(rig.services.sessions.liveExecutions().map(({ status }) => status)).toEqual(["queued"]);
    await rig.restart();
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "succeeded" });
    expect(readFileSync(join(rig.workspaceOf(run.id), "log"), "utf8")).toBe("once\n");
    expect(rig.events().filter(({ data }) => data["interrupted"])).toHaveLength(1);
  });
});
