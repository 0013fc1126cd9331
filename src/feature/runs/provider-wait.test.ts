/**
 * Waiting for a provider whose quota is used up: the wait survives a kill, costs one call when it is tried again, and
 * lasts no longer than wanted.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../testing/command.ts";
import { createModelServer, type ModelServer, reply } from "../../testing/model-server.ts";
import { lacks } from "../../testing/parts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Run } from "./model.ts";

let models: ModelServer;
let server: TestServer;
beforeAll(async () => {
  models = await createModelServer();
  server = await startServer();
  await server.request("PUT", "/v1/settings/providers/custom-lab", {
    body: { base_url: `${models.origin}/v1`, default: "custom-lab/m1", models: [{ id: "m1", context_window: 32_768 }] },
  });
  const definition = "id: one\nname: One\nsteps:\n  - id: work\n    agent: worker\n    input: Work\n";
  const agent = await server.request("POST", "/v1/agents", { body: { id: "worker", prompt: "You work." } });
  const made = await server.request("POST", "/v1/pipelines", { body: { source: definition } });
  expect([agent.status, made.status]).toEqual([201, 201]);
});
afterAll(async () => {
  await models.stop();
  await server.remove();
});

const start = async () =>
  (await server.request<Run>("POST", "/v1/runs", { body: { pipeline_id: "one", task_description: "Work" } })).body.id;
const runOf = async (id: string) => (await server.request<Run>("GET", `/v1/runs/${id}`)).body;
/** Asks again and again until the condition holds. */
async function until<T>(ask: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await ask();
    if (holds(value)) return value;
    await Bun.sleep(50);
  }
}
const createQuotaAnswer = (afterSeconds: number) => ({
  kind: "status" as const,
  status: 429,
  headers: { "retry-after": String(afterSeconds) },
  body: { error: { message: "You have used up your quota", type: "usage_limit_reached" } },
});
const done = reply({ toolCalls: [{ id: "c1", name: "complete", input: { summary: "done" } }] });
const calls = () => models.requests.filter(({ path }) => path.endsWith("/chat/completions")).length;

test("a used-up quota is a wait that a killed server takes up again, and one call when it is tried now", async () => {
  models.next(createQuotaAnswer(7_200));
  const id = await start();
  const waiting = await until(
    () => runOf(id),
    ({ waiting_reason }) => waiting_reason !== null,
  );
  expect(waiting.status).not.toBe("failed");
  expect(waiting.waiting_reason).toContain("used up your quota");
  expect(waiting.waiting_reason).toMatch(/asked again at \d{4}-\d\d-\d\dT/);
  const before = calls();
  await server.stop("SIGKILL");
  server = await startServer({ data: server.data });
  // The run is not continued before its time; another run starts and ends meanwhile.
  models.next(done);
  const other = await start();
  expect(
    (
      await until(
        () => runOf(other),
        ({ status }) => status === "succeeded",
      )
    ).status,
  ).toBe("succeeded");
  expect(calls()).toBe(before + 1);
  expect((await runOf(id)).waiting_reason).toContain("used up your quota");
  const timeline = await server.request<{ items: { waited_ms: number }[] }>("GET", `/v1/runs/${id}/timeline`);
  // Otherwise a page would count the wait as time of its tools.
  expect(timeline.body.items[0]?.waited_ms).toBeGreaterThan(0);
  expect((await server.request("POST", `/v1/runs/${id}/try-now`)).status).toBe(202);
  const ended = await until(
    () => runOf(id),
    ({ status }) => status === "succeeded" || status === "failed",
  );
  expect(ended).toMatchObject({ status: "succeeded", waiting_reason: null });
  expect(calls()).toBe(before + 2);
  expect((await server.request("POST", `/v1/runs/${id}/try-now`)).status).toBe(409);
});

const [FAKETIME] = new Bun.Glob("/usr/lib/*/faketime/libfaketime.so.1").scanSync({ cwd: "/", absolute: true });
test.skipIf(lacks("faketime", FAKETIME !== undefined))(
  "a quota whose time passes is asked once: when the clock is set forward, and after a start when the server was down",
  async () => {
    const folder = temporaryFolder();
    const ahead = join(folder.path, "ahead");
    const setClock = (hours: number) => writeFileSync(ahead, `+${hours}h\n`);
    setClock(0);
    // Only the wall clock moves, as when somebody sets it.
    const env = {
      LD_PRELOAD: FAKETIME!,
      FAKETIME_TIMESTAMP_FILE: ahead,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
    const waits = async () => {
      models.next(createQuotaAnswer(7_200));
      const id = await start();
      await until(
        () => runOf(id),
        ({ waiting_reason }) => waiting_reason !== null,
      );
      models.next(done);
      return [id, calls()] as const;
    };
    const endsWithOneCall = async ([id, before]: readonly [string, number]) => {
      const ended = await until(
        () => runOf(id),
        ({ status }) => status === "succeeded" || status === "failed",
      );
      expect(ended).toMatchObject({ status: "succeeded", waiting_reason: null });
      expect(calls()).toBe(before + 1);
    };
    await server.stop();
    server = await startServer({ data: server.data, env });
    const atWork = await waits();
    setClock(3);
    await endsWithOneCall(atWork);

    const down = await waits();
    await server.stop("SIGKILL");
    setClock(6);
    server = await startServer({ data: server.data, env });
    await endsWithOneCall(down);

    await server.stop();
    server = await startServer({ data: server.data });
    folder.remove();
  },
);

test("a wait longer than the setting allows is a failure that says when the quota is there again", async () => {
  models.next(createQuotaAnswer(60 * 60 * 30));
  const ended = await (async (id) =>
    until(
      () => runOf(id),
      ({ status }) => status === "failed",
    ))(await start());
  expect(ended.error).toMatchObject({ code: "provider_rate_limited" });
  expect(ended.error?.message).toContain("at most 24 hours");
});

test("a run that waits can be cancelled", async () => {
  models.next(createQuotaAnswer(7_200));
  const id = await start();
  await until(
    () => runOf(id),
    ({ waiting_reason }) => waiting_reason !== null,
  );
  await server.request("POST", `/v1/runs/${id}/cancel`);
  expect(
    (
      await until(
        () => runOf(id),
        ({ status }) => status === "cancelled",
      )
    ).status,
  ).toBe("cancelled");
});

test("a model call that a killed server had under way leaves a row with what its prompt may have cost", async () => {
  models.next({ kind: "hang" });
  const before = calls();
  const id = await start();
  await until(
    async () => calls(),
    (now) => now > before,
  );
  await server.stop("SIGKILL");
  models.next(done);
  server = await startServer({ data: server.data });
  await until(
    () => runOf(id),
    ({ status }) => status === "succeeded",
  );
  type Call = { finish_reason: string; input_tokens: number; estimated: boolean; error: { code: string } | null };
  const { items } = (await server.request<{ items: Call[] }>("GET", `/v1/llm-calls?run_id=${id}`)).body;
  expect(items).toHaveLength(2);
  const cut = items.find(({ error }) => error?.code === "server_stopped");
  expect(cut).toMatchObject({ finish_reason: "aborted", estimated: true });
  expect(cut?.input_tokens).toBeGreaterThan(100);
});

test("a chat waits as well, says so, and is asked again at once", async () => {
  models.next(createQuotaAnswer(7_200), reply({ text: "Here I am." }));
  const body = { agent_id: "worker", model: "custom-lab/m1" };
  const chat = (await server.request<{ id: string }>("POST", "/v1/chat/sessions", { body })).body.id;
  interface Chat {
    status: string;
    provider_wait: { reason: string; until: string } | null;
    messages: { content: string }[];
  }
  const chatNow = async () => (await server.request<Chat>("GET", `/v1/chat/sessions/${chat}`)).body;
  expect((await server.request("POST", `/v1/chat/sessions/${chat}/try-now`)).status).toBe(409);
  await server.request("POST", `/v1/chat/sessions/${chat}/message`, { body: { message: "Are you there?" } });
  const waiting = await until(chatNow, ({ provider_wait }) => provider_wait !== null);
  expect(waiting).toMatchObject({ status: "busy", provider_wait: { reason: expect.stringContaining("used up") } });
  expect((await server.request("POST", `/v1/chat/sessions/${chat}/try-now`)).status).toBe(200);
  const answered = await until(chatNow, ({ status }) => status === "ready");
  expect(answered.provider_wait).toBeNull();
  expect(answered.messages.at(-1)?.content).toBe("Here I am.");
});
