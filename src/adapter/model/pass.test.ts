/**
 * Requests in a provider's own protocol: they are passed on with its key, and the answer is passed back byte by byte
 * and counted.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ModelReply, PassedOn, PassRequest } from "../../engine/model.ts";
import {
  ANTHROPIC,
  CANARY_KEY,
  CHAT,
  createPortFixture,
  GOOGLE,
  type PortFixture,
  RESPONSES,
} from "../../testing/model-cases.ts";
import { reply } from "../../testing/model-server.ts";

let fixture: PortFixture;
beforeEach(async () => {
  fixture = await createPortFixture();
});
afterEach(() => fixture.server.stop());

const CASES = [
  ["chat", CHAT],
  ["responses", RESPONSES],
  ["messages", ANTHROPIC],
  ["gemini", GOOGLE],
] as const;
const said = { role: "user", content: "Hi" };
const BODY = { stream: true, messages: [said], input: [said], contents: [], max_tokens: 100 };

const ask = async (protocol: PassRequest["protocol"], model: string, more: Partial<PassRequest> = {}) => {
  const signal = new AbortController().signal;
  const passed = await fixture.port(CHAT).pass!({
    protocol,
    model,
    body: { ...BODY, model },
    headers: {},
    stream: true,
    signal,
    ...more,
  });
  if (!passed) throw new Error("it was not passed on");
  return passed;
};
const isPassed = (one: PassedOn | ModelReply): one is PassedOn => "answer" in one;

describe.each(CASES)("%s", (protocol, { model, path }) => {
  test("comes back byte by byte, with the counts and the price of what it used", async () => {
    const fake = reply({ text: "Hello, dear world!", usage: { input: 1_000, output: 500, cacheRead: 200 } });
    fixture.server.next(fake);
    const passed = await ask(protocol, model);
    if (!isPassed(passed)) throw new Error(passed.error?.message);
    const bytes = await passed.answer.text();
    const [request] = fixture.server.requests;
    const body = JSON.stringify(request?.body);
    const direct = await fetch(new URL(path, fixture.server.origin), { method: "POST", body });
    expect(bytes).toBe(await direct.text());
    expect(await passed.reply).toMatchObject({
      finish: "stop",
      usage_estimated: false,
      key_source: "instance",
      usage: { input_tokens: 1_000, output_tokens: 500, cache_read_tokens: 200 },
    });
    expect(JSON.stringify(request?.headers)).toContain(CANARY_KEY);
    const name = model.slice(model.indexOf("/") + 1);
    // Gemini's protocol has the model in the address.
    if (protocol === "gemini") expect(request?.path).toContain(`/${name}:streamGenerateContent`);
    else expect(request?.body).toMatchObject({ model: name });
  });

  test("a stream without counts is measured, and never free", async () => {
    fixture.server.next({ kind: "cut", reply: { text: "word ".repeat(100) }, how: "closed" });
    const passed = await ask(protocol, model);
    if (!isPassed(passed)) throw new Error(passed.error?.message);
    await passed.answer.text().catch(() => {});
    const { usage, usage_estimated } = await passed.reply;
    expect(usage_estimated).toBe(true);
    expect(usage.output_tokens).toBeGreaterThan(50);
  });

  test("a refusal says what is wrong without the key, and when the provider answers again", async () => {
    const body = { error: { message: "slow down, {{key}}" } };
    fixture.server.next({ kind: "status", status: 429, headers: { "retry-after": "30" }, body });
    const passed = await ask(protocol, model);
    if (isPassed(passed)) throw new Error("it was answered");
    expect(passed.error).toMatchObject({ code: "provider_rate_limited", retry_at: expect.any(Number) });
    expect(JSON.stringify(passed)).not.toContain(CANARY_KEY);
  });

  test("a reader that goes away ends the call, which is counted", async () => {
    fixture.server.next({ kind: "hang", reply: { text: "word ".repeat(40) } });
    const passed = await ask(protocol, model);
    if (!isPassed(passed)) throw new Error(passed.error?.message);
    const reader = passed.answer.body!.getReader();
    await reader.read();
    await reader.cancel();
    expect(await passed.reply).toMatchObject({ finish: "aborted", usage_estimated: true });
  });
});

test("what Anthropic keeps for an hour is counted by itself, and costs twice the plain input", async () => {
  const model = "anthropic/claude-sonnet-4-5";
  const costs: (number | null)[] = [];
  for (const cacheWriteHour of [0, 100]) {
    fixture.server.next(reply({ usage: { input: 100, output: 0, cacheWriteHour } }));
    const passed = await ask("messages", model);
    if (!isPassed(passed)) throw new Error(passed.error?.message);
    await passed.answer.text();
    const { usage, cost_usd } = await passed.reply;
    expect([usage.cache_write_tokens, usage.cache_write_hour_tokens ?? 0]).toEqual([cacheWriteHour, cacheWriteHour]);
    costs.push(cost_usd);
  }
  expect(costs[1]! / costs[0]!).toBeCloseTo(2, 6);
});

test.each([
  ["words", "plain words of a task ".repeat(500)],
  ["Chinese", "请先阅读整个项目的说明文档，".repeat(500)],
])(
  "a prompt of %s that its server cut ends as context_truncated, and the answer to it does not end well",
  async (_, content) => {
    const messages = [
      { role: "system", content },
      { role: "user", content: [{ type: "text", text: content }] },
    ];
    fixture.server.next(reply({ text: "I did not read it all.", usage: { input: 900, output: 7 } }));
    const passed = await ask("chat", CHAT.model, { body: { ...BODY, messages } });
    if (!isPassed(passed)) throw new Error(passed.error?.message);
    await expect(passed.answer.text()).rejects.toThrow("cut the prompt");
    const { finish, error, usage } = await passed.reply;
    expect([finish, error?.code, usage.input_tokens]).toEqual(["error", "context_truncated", 900]);
    expect(error?.message).toContain("-c 32768");
  },
);

test("a provider of another protocol is not asked", async () => {
  const signal = new AbortController().signal;
  const asked = { model: ANTHROPIC.model, body: BODY, headers: {}, signal };
  expect(await fixture.port(CHAT).pass!({ ...asked, protocol: "chat" })).toBeUndefined();
  expect(fixture.server.requests).toEqual([]);
});

test.each([
  ["chat", CHAT, {}, { max_tokens: 50 }],
  ["chat", CHAT, { max_completion_tokens: 1e9 }, { max_tokens: 50, max_completion_tokens: 50 }],
  ["chat", CHAT, { max_tokens: null }, { max_completion_tokens: 50 }],
  ["responses", RESPONSES, {}, { max_output_tokens: 50, store: false }],
  ["messages", ANTHROPIC, { thinking: { type: "enabled", budget_tokens: 9_000 } }, { thinking: { type: "disabled" } }],
  ["gemini", GOOGLE, { generationConfig: { maxOutputTokens: 9e9 } }, { generationConfig: { maxOutputTokens: 50 } }],
] as const)("a budget with little room keeps the reply short: %s", async (protocol, { model }, more, expected) => {
  fixture.server.next(reply({ text: "ok" }));
  const passed = await ask(protocol, model, { maxOutputTokens: 50, body: { ...BODY, model, ...more } });
  if (isPassed(passed)) await passed.answer.text();
  expect(fixture.server.requests[0]?.body).toMatchObject(expected);
});
