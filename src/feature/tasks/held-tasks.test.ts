/**
 * Which tasks an agent's work may move: tasks that it was given or has claimed, unless the agent's file allows more.
 */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { createRigs } from "../../testing/engine-rig.ts";
import { createHandModel, type HandCall } from "../../testing/hand-model.ts";

setDefaultTimeout(300_000);
const rigs = createRigs();
afterAll(rigs.close);

const PIPELINE = 'id: one\nname: one\nsteps:\n  - id: one\n    agent: worker\n    input: "{{ task_description }}"\n';

test("transition_task moves a task that the work was given or has claimed, and no other", async () => {
  const model = createHandModel();
  const agents = { mover: "---\nname: Mover\nmoves_tasks: all\n---\nYou move." };
  const rig = await rigs.startRig({ pipelines: { one: PIPELINE }, agents, models: model });
  const { projects, tasks, sessions } = rig.services;
  const { id: project_id } = projects.create({ name: "pond" }, LOCAL_ADMIN);
  const [given, claimed, other] = ["Given", "Claimed", "Other"].map(
    (title) => tasks.create(project_id, { title, status: "ready" }, LOCAL_ADMIN).id,
  );
  const reply = async (call: HandCall, tool: string, input: object): Promise<[HandCall, string]> => {
    call.reply([{ tool, input }]);
    const next = await model.next(call.request.scope.sessionId);
    return [next, JSON.stringify(next.request.messages.at(-1))];
  };
  const chat = async (agent_id: string): Promise<HandCall> => {
    const { id } = sessions.open({ kind: "chat", agent_id, project_id });
    sessions.queue(id, { input: "Go on", timeout_seconds: 600 });
    return model.next(id);
  };
  const move = (call: HandCall, task_id: string | undefined) =>
    reply(call, "transition_task", { task_id, status: "review" });
  const statusOf = (id: string | undefined) => tasks.get(project_id, id ?? "").status;

  tasks.execution.execute(project_id, given ?? "", { pipeline_id: "one" }, LOCAL_ADMIN);
  let work = await model.next();
  let said: string;
  [work, said] = await move(work, other);
  expect(said).toContain("has not claimed it");
  expect(statusOf(other)).toBe("ready");
  [work] = await move(work, given);
  expect(statusOf(given)).toBe("review");
  [work] = await reply(work, "claim_task", { task_id: claimed });
  // Other work of the same agent holds the task, so it can be neither moved nor taken over.
  let second = await chat("worker");
  [second, said] = await move(second, claimed);
  expect(said).toContain("has not claimed it");
  [second, said] = await reply(second, "claim_task", { task_id: claimed });
  expect(said).toContain("Other work of worker holds the task");
  [work] = await move(work, claimed);
  expect(statusOf(claimed)).toBe("review");
  await move(await chat("mover"), other);
  expect(statusOf(other)).toBe("review");
});
