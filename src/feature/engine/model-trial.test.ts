/** Finds out what a model can do, by real calls. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { skep } from "../../testing/command.ts";
import { createModelServer, type ModelServer, type RecordedRequest, reply } from "../../testing/model-server.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);
let models: ModelServer;
let server: TestServer;
beforeAll(async () => {
  models = await createModelServer();
  server = await startServer();
  const lab = { base_url: `${models.origin}/v1`, models: [{ id: "m1", context_window: 16_384, images: false }] };
  await server.request("PUT", "/v1/settings/providers/custom-lab", { body: lab });
});
afterAll(async () => {
  await models.stop();
  await server.remove();
});

interface Content {
  type: string;
}
/** Characters per token, as the test's model server counts. */
const CHARACTERS = 4.2;
/** A model that can do everything, except what is listed in `lacks`. */
const answerWith =
  (lacks: { tools?: boolean; images?: boolean; needle?: boolean } = {}) =>
  ({ body }: RecordedRequest) => {
    const { messages, tools = [] } = body as { messages: { content: string | Content[] }[]; tools?: unknown[] };
    const said = JSON.stringify(messages.at(-1)?.content);
    if (tools.length > 0)
      return lacks.tools
        ? reply({ text: "I would report 7." })
        : reply({ toolCalls: [{ id: "c1", name: "report_number", input: { number: 7 } }] });
    if (said.includes("image_url")) return reply({ text: lacks.images ? "Blue." : "Red." });
    const usage = { input: Math.round(JSON.stringify(messages).length / CHARACTERS) };
    if (said.includes("heliotrope")) return reply({ text: lacks.needle ? "Weather." : "heliotrope", usage });
    return reply({ text: "ready", usage });
  };
const tryModel = async (...args: string[]) => {
  const { code, stdout, stderr } = await skep(["models", "try", "custom-lab/m1", "--url", server.url, ...args]);
  expect(stderr).toBe("");
  return { code, stdout };
};

test("a trial says in plain words what a model can, and is kept", async () => {
  models.answerBy(answerWith());
  const { code, stdout } = await tryModel("--needle");
  expect(code).toBe(0);
  for (const said of [
    /^answers +yes$/m,
    /^calls tools +yes$/m,
    /^sees pictures +yes$/m,
    /^served window +16,384 tokens$/m,
    /^end of window +yes\. It read 1[45],\d{3} tokens, 9[0-2] % of the window\.$/m,
    /^cost +unknown: it has no price$/m,
  ])
    expect(stdout).toMatch(said);
  const last = models.requests.findLast(({ path }) => path.endsWith("/chat/completions"));
  expect(JSON.stringify(last?.body).length / CHARACTERS).toBeGreaterThan(16_384 * 0.9);
  const kept = await server.request<{ trial: object }>("GET", "/v1/settings/models/trial?model=custom-lab/m1");
  expect(kept.body.trial).toMatchObject({ calls: 5, images: { ok: true, detail: null }, needle: { ok: true } });
  const logged = await server.request<{ items: { purpose: string }[] }>("GET", "/v1/llm-calls?limit=10");
  expect(logged.body.items.map(({ purpose }) => purpose)).toEqual(Array(5).fill("trial"));
});

test("what a model cannot is said with what it answered, and a model that calls no tool ends with 1", async () => {
  models.answerBy(answerWith({ tools: true, images: true }));
  await server.request("PUT", "/v1/settings/models", {
    body: { model: "custom-lab/m1", input_usd_per_mtok: 10, output_usd_per_mtok: 10 },
  });
  const { code, stdout } = await tryModel();
  expect(code).toBe(1);
  expect(stdout).toMatch(/^calls tools +no\. It said: I would report 7\.$/m);
  expect(stdout).toMatch(/^sees pictures +no\. It said: Blue\.$/m);
  expect(stdout).toMatch(/^end of window +It was not tried/m);
  expect(stdout).toMatch(/^cost +\$0\.\d+ for 3 calls, \$0\.\d+ each$/m);
});

test("a provider that refuses is asked once, and a name that is none is refused", async () => {
  const before = models.requests.length;
  models.answerBy(() => ({ kind: "status", status: 401, body: { error: { message: "no" } } }));
  const { code, stdout } = await tryModel();
  expect([code, models.requests.length - before]).toEqual([1, 1]);
  expect(stdout).toMatch(/^answers +no\. .*key/m);
  expect((await server.request("POST", "/v1/settings/models/try", { body: { model: "nobody/x" } })).status).toBe(422);
});

test("a trial shows what it finds out, is joined by the next one, and can be cancelled", async () => {
  const gate = Promise.withResolvers<void>();
  const answer = answerWith();
  const isLong = ({ body }: RecordedRequest) => JSON.stringify(body).length > 40_000;
  models.answerBy((request) => ({
    ...answer(request),
    ...(JSON.stringify(request.body).includes("heliotrope") && isLong(request) ? { until: () => gate.promise } : {}),
  }));
  const { stdout } = await tryModel("--needle", "--detach");
  const id = stdout.split("\n")[0]!;
  interface Job {
    state: string;
    percent: number | null;
    detail: string | null;
    user_id: string | null;
  }
  const job = async () => (await server.request<Job>("GET", `/v1/jobs/${id}`)).body;
  const words = async (...args: string[]) => (await skep([...args, "--url", server.url])).stdout;
  let now = await job();
  while (!now.detail?.includes("far end")) now = await job();
  expect(now).toMatchObject({ state: "running", percent: 80, detail: expect.stringMatching(/end of 14,745 tokens/) });
  const body = { model: "custom-lab/m1", needle: true };
  const joined = await server.request<{ id: string }>("POST", "/v1/settings/models/try", { body });
  expect([joined.status, joined.body.id]).toEqual([202, id]);
  const other = await server.request("POST", "/v1/settings/models/try", { body: { model: "custom-lab/m1" } });
  expect([other.status, other.body["code"]]).toEqual([409, "model_being_tried"]);
  expect(await words("models", "trial", "custom-lab/m1")).toContain(`skep jobs wait ${id}`);
  expect(await words("jobs", "cancel", id)).toContain(id);
  while (now.state === "running") now = await job();
  expect(now.state).toBe("cancelled");
  gate.resolve();
  // The result of the previous trial is still stored.
  expect(await words("models", "trial", "custom-lab/m1")).toMatch(/^answers +no\. /m);
});

test("a trial that a killed server was at ends, says so, and is not paid twice", async () => {
  const own = await startServer();
  const lab = { base_url: `${models.origin}/v1`, models: [{ id: "m1", context_window: 16_384 }] };
  await own.request("PUT", "/v1/settings/providers/custom-lab", { body: lab });
  const asked = Promise.withResolvers<void>();
  models.answerBy(() => {
    asked.resolve();
    return { kind: "hang" };
  });
  const waits = skep(["models", "try", "custom-lab/m1", "--url", own.url, "--detach"]);
  const id = (await waits).stdout.split("\n")[0]!;
  await asked.promise;
  const before = models.requests.length;
  await own.stop("SIGKILL");
  const again = await startServer({ data: own.data });
  const { code, stdout } = await skep(["jobs", "wait", id, "--url", again.url]);
  expect([code, stdout.trim()]).toEqual([1, `${id} failed: The server stopped before it was done.`]);
  const found = await again.request("GET", "/v1/settings/models/trial?model=custom-lab/m1");
  expect(found.body).toEqual({ trial: null, job_id: null });
  expect(models.requests.length).toBe(before);
  await again.stop();
  await own.remove();
});
