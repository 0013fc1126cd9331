/** A52: from inside its container, an agent's program tries to circumvent its budget, its model and its key. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dockerForTests } from "../docker-image.ts";
import { type ExampleAgents, startExampleAgents } from "../example-agents.ts";
import { reply } from "../model-server.ts";

setDefaultTimeout(300_000);
const docker = await dockerForTests(process.env);
const isRun = test.skipIf(!docker);
let examples: ExampleAgents;
beforeAll(async () => {
  if (docker) examples = await startExampleAgents(docker);
});
afterAll(() => examples?.remove());

isRun("what would go around the budget, the model or the key is refused before a byte goes to a provider", async () => {
  const { metered } = examples;
  const first = await metered.run(await examples.pipeline("leave key"));
  expect(first.error).toBeNull();
  const key = readFileSync(join(metered.server.data, "workspaces", first.id, "key"), "utf8");
  expect(key).not.toBe("");
  const before = metered.models.requests.length;
  const run = await metered.run(await examples.pipeline("around", { prompt: `MODE: around\nKEY: ${key}` }));
  expect(run).toMatchObject({ status: "succeeded", error: null, cost_usd: 0 });
  const said = run.events.map(({ data }) => String(data["text"])).find((text) => text.startsWith("{"));
  const answers = JSON.parse(said ?? "{}") as Record<string, number | string>;
  expect(Object.keys(answers)).toHaveLength(18);
  const passed = Object.entries(answers).filter(([, status]) => status !== "cut off" && Number(status) < 400);
  expect(passed).toEqual([]);
  expect([answers["the key of an execution that has ended"], answers["no key"]]).toEqual([401, 401]);
  expect(answers["another model"]).toBe(404);
  expect(metered.models.requests.length).toBe(before);
});

isRun("calls at once spend no more than the budget, and what they cost is exactly what is in the books", async () => {
  const { metered } = examples;
  metered.models.next(reply({ text: "hello", usage: { input: 10, output: 1_000 } }));
  const before = metered.models.requests.length;
  const run = await metered.run(await examples.pipeline("spend at once", {}, { budget_usd: 1 }));
  expect(run.error?.code).toBe("budget_exceeded");
  const asked = metered.models.requests.length - before;
  expect(asked).toBeGreaterThan(0);
  expect(run.cost_usd).toBeLessThanOrEqual(1);
  const { body } = await metered.call<{ items: { cost_usd: number }[] }>("GET", `/v1/llm-calls?run_id=${run.id}`);
  expect(body.items.map(({ cost_usd }) => cost_usd)).toEqual(Array(asked).fill(0.1));
  expect(run.cost_usd).toBeCloseTo(asked * 0.1, 9);
});
