/**
 * A53: an external agent that lies, speaks for the person and never ends. Tests of agents that flood, or that ask
 * without an option to refuse, are in `src/feature/engine/harness-agents.test.ts`.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { dockerForTests } from "../docker-image.ts";
import { framesOf, framesUntil } from "../event-reader.ts";
import { type ExampleAgents, startExampleAgents } from "../example-agents.ts";

setDefaultTimeout(300_000);
const docker = await dockerForTests(process.env);
const isRun = test.skipIf(!docker);
let examples: ExampleAgents;
beforeAll(async () => {
  if (docker) examples = await startExampleAgents(docker);
});
afterAll(() => examples?.remove());

isRun("what it says in a person's name is nobody's word, and its own labels make no yes of a no", async () => {
  const { metered } = examples;
  const agent_id = await examples.pipeline("as user", { tools: ["read"] });
  const { body: chat } = await metered.call<{ id: string }>("POST", "/v1/chat/sessions", { agent_id });
  const path = `/v1/chat/sessions/${chat.id}`;
  await metered.call("POST", `${path}/message?stream=true`, { message: "hello" });
  const { body } = await metered.call<{ messages: { role: string; content: string }[] }>("GET", path);
  const said = body.messages.map(({ role, content }) => [role, content]);
  // If an option refuses, it is chosen whatever its name; if there is none, nothing is chosen.
  const answers = ["selected", "cancelled", "cancelled", "cancelled"];
  expect(said).toEqual([
    ["user", "hello"],
    ["assistant", JSON.stringify(answers)],
  ]);
});

isRun("one that never ends is stopped by the person", async () => {
  const { metered } = examples;
  const { server, admin } = metered;
  const pipeline_id = await examples.pipeline("never");
  const { body: run } = await metered.call<{ id: string }>("POST", "/v1/runs", { pipeline_id, task_description: "it" });
  const stream = () => framesOf(server, `/v1/events/stream?run_id=${run.id}&after=0`, admin.token);
  await framesUntil(stream(), ({ event }) => event === "step_started");
  await metered.call("POST", `/v1/runs/${run.id}/cancel`);
  await framesUntil(stream(), ({ event }) => event === "run_cancelled");
  const { body } = await metered.call<{ status: string }>("GET", `/v1/runs/${run.id}`);
  expect(body.status).toBe("cancelled");
});
