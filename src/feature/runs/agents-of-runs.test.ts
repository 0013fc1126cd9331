/** The effect of agents' files on a run: they are read when a step begins, and may be gone by then. */
import { afterEach, expect, test } from "bun:test";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { type Answer, type Asked, createAnsweringModel } from "../../testing/answering-model.ts";
import { createRigs, type Rig } from "../../testing/engine-rig.ts";

const rigs = createRigs();
afterEach(rigs.close);
const startRig = (steps: string, agents: Record<string, string>, answer: (asked: Asked) => Answer): Promise<Rig> => {
  const pipelines = { p: `id: p\nname: P\nsteps:\n${steps}` };
  return rigs.startRig({ pipelines, agents, models: createAnsweringModel(answer).port });
};
const ends = (rig: Rig, run: { id: string }) =>
  rig.steps(run.id).map(({ step_id, status, error }) => `${step_id} ${status} ${error?.code ?? ""}`.trim());

test("an agent that is deleted during a run fails its own step; the step before it stays done", async () => {
  const steps = "  - { id: one, agent: ann, input: x }\n  - { id: two, agent: bob, input: x }\n";
  const agents = { ann: "You are Ann.", bob: "You are Bob." };
  const rig = await startRig(steps, agents, () => {
    rig.services.agents.remove("bob", LOCAL_ADMIN);
    return { outputs: {} };
  });
  const run = rig.create("p");
  expect(await rig.waitForEnd(run.id)).toMatchObject({
    status: "failed",
    error: { code: "not_found", step_id: "two" },
  });
  expect(ends(rig, run)).toEqual(["one succeeded", "two failed not_found"]);
});

test.each([
  ["the agent's max_attempts", "", 4],
  ["the step's before the agent's", ", max_attempts: 3", 3],
])("a step that is tried again follows %s", async (_what, more, attempts) => {
  const agents = { ann: "---\nmax_attempts: 4\n---\nYou are Ann." };
  const rig = await startRig(`  - { id: one, agent: ann, input: x, on_failure: retry${more} }\n`, agents, () => ({
    fail: "it does not work",
  }));
  const run = rig.create("p");
  expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "failed" });
  expect(ends(rig, run)).toEqual(Array.from({ length: attempts }, () => "one failed agent_failed"));
});
