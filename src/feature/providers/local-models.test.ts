/** Models on local servers: the context window that is really served, and the settings of single models. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createLocalModelServer, type LocalModelServer } from "../../testing/local-model-server.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { ProviderModel } from "./model.ts";

let server: TestServer;
let ollama: LocalModelServer;
beforeAll(async () => {
  ollama = createLocalModelServer("ollama", { capabilities: ["completion", "tools", "vision"] });
  server = await startServer();
});
afterAll(async () => {
  ollama.stop();
  await server.remove();
});

const MODEL = "ollama/qwen3:8b";
const call = async <T = Record<string, unknown>>(method: string, path: string, body?: unknown) =>
  (await server.request<T>(method, path, { body })).body;
const setModel = (fields: Record<string, unknown>) => call<ProviderModel>("PUT", "/v1/settings/models", fields);
const findModel = async (id: string) =>
  (await call<{ items: ProviderModel[] }>("GET", "/v1/models?provider=ollama")).items.find((one) => one.id === id);
const windowFinding = async () =>
  (await call<{ findings: { check: string; detail: string }[] }>("GET", "/v1/doctor")).findings.find(
    ({ check }) => check === "window",
  );

test("Ollama's window is asked of the server, and one that is too small is said with its remedy", async () => {
  await call("PUT", "/v1/settings/providers/ollama", { base_url: ollama.origin, default: MODEL });
  await call("POST", "/v1/settings/providers/ollama/test", {});
  expect(await findModel(MODEL)).toMatchObject({ context_window: null, max_context_window: 40_960, images: true });
  expect((await windowFinding())?.detail).toContain("no window is set");
  const found = await call("POST", "/v1/settings/models/window", { model: MODEL });
  expect(found).toMatchObject({ context_window: 4_096, is_small: true });
  expect(found["advice"]).toBe(
    "served window 4,096: too small for agents; set: skep models set ollama/qwen3:8b --window 32k",
  );
});

test("a window that was set is the window, and doctor has nothing to say", async () => {
  expect(await setModel({ model: MODEL, context_window: 32_768 })).toMatchObject({
    id: MODEL,
    context_window: 32_768,
    max_context_window: 40_960,
    tools: true,
    images: true,
  });
  expect(await call("POST", "/v1/settings/models/window", { model: MODEL })).toMatchObject({
    context_window: 32_768,
    wanted: 32_768,
    is_small: false,
    advice: null,
  });
  expect(await windowFinding()).toBeUndefined();
});

test("doctor says the windows of all models that are named: of settings and agents, to be asked first or instead", async () => {
  const windows = async () => {
    const { findings } = await call<{ findings: { check: string; detail: string }[] }>("GET", "/v1/doctor");
    return findings.filter(({ check }) => check === "window").map(({ detail }) => detail.split(": ")[0]);
  };
  await call("PUT", "/v1/settings", { models: { chat: "ollama/talker", fallback: ["ollama/spare"] } });
  const named = { prompt: "You work.", model: "ollama/own", fallback: ["ollama/instead", MODEL] };
  await call("POST", "/v1/agents", { id: "namer", ...named });
  expect((await windows()).toSorted()).toEqual(["ollama/instead", "ollama/own", "ollama/spare", "ollama/talker"]);
  await call("PUT", "/v1/settings", { models: { chat: null, fallback: [] } });
  await call("DELETE", "/v1/agents/namer");
  expect(await windows()).toEqual([]);
});

test("setting one field of one model leaves its others and other models; null goes back to what was known", async () => {
  await setModel({ model: "ollama/other", input_usd_per_mtok: 1, output_usd_per_mtok: 2 });
  await setModel({ model: MODEL, images: false });
  expect(await findModel(MODEL)).toMatchObject({ context_window: 32_768, images: false, tools: true });
  expect(await findModel("ollama/other")).toMatchObject({ input_usd_per_mtok: 1, output_usd_per_mtok: 2 });
  await setModel({ model: MODEL, images: null, context_window: null });
  expect(await findModel(MODEL)).toMatchObject({ context_window: null, images: true });
  await setModel({ model: "ollama/other", input_usd_per_mtok: null, output_usd_per_mtok: null });
  expect(await findModel("ollama/other")).toBeUndefined();
});

test("a name that is none is refused, with its field", async () => {
  const refused = await server.request("PUT", "/v1/settings/models", { body: { model: "nobody/x", images: true } });
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([422, expect.stringContaining("/model")]);
  expect((await server.request("POST", "/v1/settings/models/window", { body: { model: "nobody/x" } })).status).toBe(
    404,
  );
});

test.each([
  ["clerk", "Monday: rain from the west, eleven degrees, wind rising in the evening. ", 150],
  ["shuji", "星期一：西边有雨，气温十一度，傍晚风力逐渐增强，夜里转为阵雨。", 150],
])(
  "a chat of %s is summarised from the window that is served on, so that the server cuts nothing",
  async (agent_id, page, pages) => {
    const small = createLocalModelServer("ollama", { window: 8_192, most: 131_072 });
    await call("PUT", "/v1/settings/providers/ollama", { base_url: small.origin, default: MODEL });
    await call("POST", "/v1/agents", { id: agent_id, prompt: "You keep the weather book.", tools: [] });
    const { id } = await call<{ id: string }>("POST", "/v1/chat/sessions", { agent_id, model: MODEL });
    interface Chat {
      status: string;
      messages: { role: string; content: string }[];
    }
    const sendMessage = async (message: string): Promise<Chat> => {
      small.next({ text: "Noted." });
      await call("POST", `/v1/chat/sessions/${id}/message`, { message });
      for (;;) {
        const chat = await call<Chat>("GET", `/v1/chat/sessions/${id}`);
        if (chat.status !== "busy") return chat;
      }
    };
    const isSummary = ({ body }: { body: unknown }) =>
      JSON.stringify(body).includes("Write a summary from which you can");
    await sendMessage(`The word is heliotrope. ${page.repeat(pages)}`);
    expect(small.requests.some(isSummary)).toBe(false);
    const chat = await sendMessage(`Second page. ${page.repeat(pages)}`);
    expect(small.requests.some(isSummary)).toBe(true);
    expect(chat.messages.at(-1)).toMatchObject({ role: "assistant", content: "Noted." });
    // The last request arrived whole, with the summary before it.
    expect(small.lastRead()).toContain("Summary of the work so far");
    expect(small.lastRead()).toContain("Second page.");
    small.stop();
  },
);

test.each([
  [0.75, "25 % of it does not fit the card with a window of 32,768 and is computed by the processor"],
  [1, null],
  [0, null],
])("a loaded model of which the card holds %p: what does not fit is said", async (onCard, advice) => {
  const card = createLocalModelServer("ollama", { window: 32_768, isLoaded: true, onCard });
  await call("PUT", "/v1/settings/providers/ollama", { base_url: card.origin, default: MODEL });
  const found = await call("POST", "/v1/settings/models/window", { model: MODEL });
  expect(found).toMatchObject({ context_window: 32_768, is_small: false });
  expect(found["advice"]).toEqual(advice && expect.stringContaining(advice));
  card.stop();
});
