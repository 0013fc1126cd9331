/** Settings apply to agents, pipelines and runs that set no value themselves. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { DONE, type EndedRun, type MeteredServer, MODEL, startMeteredServer } from "../../testing/metered-server.ts";
import { reply } from "../../testing/model-server.ts";

let metered: MeteredServer;
beforeAll(async () => {
  metered = await startMeteredServer();
});
afterAll(() => metered.remove());
beforeEach(() => {
  metered.models.requests.length = 0;
});

const put = (settings: Record<string, unknown>) => metered.call("PUT", "/v1/settings", settings);
const LOOKS = { toolCalls: [{ name: "ls", input: { path: "." } }], usage: { input: 10, output: 10 } };
const kinds = (run: EndedRun, kind: string) => run.events.filter((event) => event.kind === kind).length;

describe("settings", () => {
  test("models: the one for the use takes precedence over the default, the agent's own over both", async () => {
    metered.models.next(reply(DONE));
    const silent = await metered.pipeline(undefined, { model: null });
    expect((await metered.run(silent)).error?.code).toBe("no_model");
    const runPipeline = async (pipeline: string) => {
      metered.models.requests.length = 0;
      expect((await metered.run(pipeline)).status).toBe("succeeded");
      return metered.models.requests.map(({ body }) => (body as { model: string }).model);
    };
    await put({ models: { default: "custom-lab/of-all" } });
    expect(await runPipeline(silent)).toEqual(["of-all"]);
    await put({ models: { pipeline: "custom-lab/of-pipelines" } });
    expect(await runPipeline(silent)).toEqual(["of-pipelines"]);
    expect(await runPipeline(await metered.pipeline())).toEqual([MODEL.replace("custom-lab/", "")]);
    await put({ models: { default: null, pipeline: null } });
  });

  test("models.summary writes the summary of a conversation that grew too long", async () => {
    const long = { kind: "status", status: 400, body: { error: { message: "prompt is too long" } } } as const;
    await put({ models: { summary: "custom-lab/of-summaries" } });
    metered.models.next(reply(LOOKS), long, reply({ text: "SUMMARY" }), reply(DONE));
    const run = await metered.run(await metered.pipeline());
    await put({ models: { summary: null } });
    expect(run.status).toBe("succeeded");
    const asked = metered.models.requests.map(({ body }) => (body as { model: string }).model);
    expect(asked).toEqual(["m", "m", "of-summaries", "m"]);
    const { body } = await metered.call<{ items: { purpose: string }[] }>("GET", `/v1/llm-calls?run_id=${run.id}`);
    expect(body.items.map(({ purpose }) => purpose).reverse()).toEqual(["turn", "turn", "summary", "turn"]);
    expect(JSON.stringify(metered.models.requests.at(-1)?.body)).toContain("SUMMARY");
  });

  test("limits.max_turns ends an agent that does not stop", async () => {
    await put({ limits: { max_turns: 2 } });
    metered.models.next(reply(LOOKS));
    const run = await metered.run(await metered.pipeline());
    await put({ limits: { max_turns: null } });
    expect(run.error?.code).toBe("turns_exceeded");
    expect(metered.models.requests).toHaveLength(2);
  });

  test("limits.max_attempts says how often a step is tried again", async () => {
    await put({ limits: { max_attempts: 3 } });
    metered.models.next({ kind: "status", status: 401 });
    const agent = await metered.pipeline();
    const steps = [{ id: "work", agent, input: "Do it.", on_failure: "retry" }];
    await metered.call("POST", "/v1/pipelines", { id: "retried", name: "Retried", steps });
    const run = await metered.run("retried");
    await put({ limits: { max_attempts: null } });
    expect([run.status, kinds(run, "session_started")]).toEqual(["failed", 3]);
  });
});
