/** Rules of the port for all protocols: configuration, retries, costs, privacy. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ModelMessage, ModelReply } from "../../engine/model.ts";
import {
  ANTHROPIC,
  CANARY_KEY,
  CHAT,
  createPortFixture,
  GOOGLE,
  type PortFixture,
  RESPONSES,
  requestFor,
  textOf,
  WIRE_CASES,
} from "../../testing/model-cases.ts";
import { type Behaviour, createModelServer, type ModelServer, reply } from "../../testing/model-server.ts";
import type { ResolvedProvider } from "./model-port.ts";

let fixture: PortFixture;
let server: ModelServer;
beforeEach(async () => {
  fixture = await createPortFixture();
  server = fixture.server;
});
afterEach(() => server.stop());

describe("tool input that is not JSON", () => {
  for (const one of WIRE_CASES.filter((each) => each.wire !== "google"))
    test(`${one.wire}: comes back as the raw text, and the history with it is accepted again`, async () => {
      server.next(reply({ toolCalls: [{ id: "c1", name: "write", input: '{"path": "a' }] }));
      const port = fixture.port(one);
      const answer = await port.call(requestFor(one));
      expect(answer.finish).toBe("tool_calls");
      expect(answer.parts.find((part) => part.type === "tool_call")).toMatchObject({ input: '{"path": "a' });
      server.next(reply({ text: "ok" }));
      const results = [{ call_id: "c1", tool: "write", ok: false, output: "input is not JSON" }];
      const second = await port.call(
        requestFor(one, {
          messages: [
            { role: "user", parts: [{ type: "text", text: "Hi" }] },
            { role: "assistant", parts: answer.parts },
            { role: "tool", results },
          ],
        }),
      );
      expect(second.error).toBeUndefined();
      expect(JSON.stringify(server.requests[1]!.body)).toContain("invalid_input");
    });

  for (const one of WIRE_CASES.filter((each) => each.wire !== "google"))
    test.each(['{"path": "a', '{"path": {"a": "b"}', ""])(
      `${one.wire}: of a reply that was cut in it, %p is half a call: none is made, and the reply is one that was cut`,
      async (input) => {
        const toolCalls = [
          { id: "c1", name: "write", input: { path: "whole" } },
          { id: "c2", name: "write", input },
        ];
        server.next(reply({ text: "I write.", toolCalls, finish: "length" }));
        const answer = await fixture.call(one);
        expect(answer).toMatchObject({ finish: "length", parts: [{ type: "text", text: "I write." }] });
        expect(answer.error).toBeUndefined();
      },
    );

  test("a reply that was cut after whole calls has them", async () => {
    server.next(reply({ toolCalls: [{ id: "c1", name: "write", input: { path: "a" } }], finish: "length" }));
    expect(await fixture.call(CHAT)).toMatchObject({ finish: "length", parts: [{ input: { path: "a" } }] });
  });

  test("a call of a tool that was not offered is handed back too", async () => {
    server.next(reply({ toolCalls: [{ id: "c1", name: "fly", input: { to: "moon" } }] }));
    const answer = await fixture.call(CHAT);
    expect(answer.parts).toMatchObject([{ type: "tool_call", tool: "fly", input: { to: "moon" } }]);
  });
});

describe("model port", () => {
  test("a provider that is unknown, not configured or without a key is said so, without a request", async () => {
    for (const [model, found] of [
      ["nobody/x", { source: "none" }],
      ["gpt-4o", { source: "none" }],
      ["openai/gpt-4o", undefined],
      ["openai/gpt-4o", { source: "none" }],
      ["custom-x/y", { source: "none" }],
    ] as [string, ResolvedProvider | undefined][]) {
      const answer = await fixture.portWith(found).call(requestFor(CHAT, { model }));
      expect(answer).toMatchObject({ finish: "error", attempts: 0, error: { code: "provider_not_configured" } });
    }
  });

  test("a key store that throws is a reply too, without its message", async () => {
    const port = fixture.portWith(new Error(`cannot unseal ${CANARY_KEY}`));
    const answer = await port.call(requestFor(CHAT));
    expect(answer.finish).toBe("error");
    expect(fixture.logged.length).toBe(1);
    fixture.expectNoKey(answer);
  });

  test("a server that does not exist is tried again and then named", async () => {
    const gone = await createModelServer();
    const { origin } = gone;
    await gone.stop();
    const port = fixture.portWith({ source: "none", baseUrl: origin }, { attempts: 2 });
    const answer = await port.call(requestFor(CHAT, { model: "ollama/qwen3" }));
    expect(answer.attempts).toBe(2);
    expect(answer.error).toMatchObject({ code: "provider_unreachable", retryable: true });
    expect(answer.error!.message).toContain(origin);
    expect(answer.cost_usd).toBe(0);
  });

  test("a local server gets no key when there is none", async () => {
    const port = fixture.portWith({ source: "none", baseUrl: server.origin });
    const answer = await port.call(requestFor(CHAT, { model: "ollama/qwen3:8b" }));
    expect(answer).toMatchObject({ finish: "stop", key_source: "none", cost_usd: 0, cost_source: "table" });
    expect(server.requests[0]!.headers["authorization"]).toBeUndefined();
    expect(server.requests[0]!.body).toMatchObject({ model: "qwen3:8b", stream: true });
  });

  test("a local server that wants a key where there is none: how to store one", async () => {
    const port = fixture.portWith({ source: "none", baseUrl: server.origin });
    server.next({ kind: "status", status: 401, body: { error: { message: "no key" } } });
    const answer = await port.call(requestFor(CHAT, { model: "ollama/qwen3:8b" }));
    expect(answer.error).toMatchObject({
      code: "provider_auth",
      message: "ollama asks for a key (401), and none is stored. Store one: skep providers set ollama --key",
    });
  });

  test("a wait longer than the bound is not waited", async () => {
    server.next({ kind: "status", status: 429, headers: { "retry-after": "3600" } });
    const answer = await fixture.call(CHAT);
    expect(answer).toMatchObject({ attempts: 1, error: { code: "provider_rate_limited", retryable: true } });
  });

  test("a used-up quota is not tried again", async () => {
    const error = { message: "You exceeded your quota", code: "insufficient_quota" };
    server.next({ kind: "status", status: 429, body: { error } });
    expect(await fixture.call(CHAT)).toMatchObject({
      attempts: 1,
      error: { code: "provider_rate_limited", retryable: false },
    });
  });

  test("a prompt over the window has its own code", async () => {
    const error = { message: "This model's maximum context length is 8192 tokens", code: "context_length_exceeded" };
    server.next({ kind: "status", status: 400, body: { error } });
    expect((await fixture.call(CHAT)).error).toMatchObject({ code: "context_too_long", retryable: false });
  });

  for (const one of WIRE_CASES)
    test(`${one.wire}: a model that refuses the thinking level is called without it, and is not asked again`, async () => {
      const error = { message: '"llama3" does not support thinking', type: "invalid", code: 400, status: "INVALID" };
      server.next({ kind: "status", status: 400, body: { type: "error", error } }, reply({ text: "fine" }));
      const port = fixture.port(one);
      const request = requestFor(one, { thinkingLevel: "high" });
      expect(await port.call(request)).toMatchObject({ finish: "stop", attempts: 2 });
      expect(await port.call(request)).toMatchObject({ finish: "stop", attempts: 1 });
      const asked = server.requests.map(({ body }) =>
        /"(reasoning_effort|effort|thinking|thinkingConfig|think)":/.test(JSON.stringify(body)),
      );
      expect(asked).toEqual([true, false, false]);
    });

  test("a broken signature in the history is reported, and does not switch thinking off", async () => {
    const error = { type: "invalid_request_error", message: "messages.1: Invalid signature in thinking block" };
    server.next({ kind: "status", status: 400, body: { type: "error", error } });
    const answer = await fixture.call(ANTHROPIC, {}, { thinkingLevel: "low" });
    expect(answer).toMatchObject({ attempts: 1, error: { message: expect.stringContaining("Invalid signature") } });
  });

  test("Google's 400 for a wrong key is a refused key", async () => {
    const error = { code: 400, message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" };
    server.next({ kind: "status", status: 400, body: { error } });
    expect(await fixture.call(GOOGLE)).toMatchObject({ attempts: 1, error: { code: "provider_auth" } });
  });

  test("what the provider says it charged counts before the table", async () => {
    server.next(reply({ text: "x", costUsd: 0.0123 }));
    const model = "openrouter/openai/gpt-4o";
    const answer = await fixture.port(CHAT).call(requestFor(CHAT, { model }));
    expect(answer).toMatchObject({ cost_usd: 0.0123, cost_source: "provider" });
  });

  test("reasoning of one provider is not sent to another", async () => {
    const parts: ModelReply["parts"] = [
      { type: "thinking", text: "secret-thought", provider: { provider: "anthropic", metadata: { anthropic: {} } } },
      { type: "text", text: "said" },
    ];
    const messages: ModelMessage[] = [
      { role: "user", parts: [{ type: "text", text: "a" }] },
      { role: "assistant", parts },
      { role: "user", parts: [{ type: "text", text: "b" }] },
    ];
    await fixture.call(RESPONSES, {}, { messages });
    const body = JSON.stringify(server.requests[0]!.body);
    expect(body).toContain("said");
    expect(body).not.toContain("secret-thought");
  });

  test("OpenAI is asked to keep nothing, and Anthropic's prefix is marked for its cache", async () => {
    await fixture.call(RESPONSES);
    await fixture.call(ANTHROPIC);
    expect(server.requests[0]!.body).toMatchObject({ store: false });
    expect(JSON.stringify(server.requests[1]!.body).match(/"cache_control"/g)?.length).toBe(2);
  });

  describe("Claude behind OpenRouter", () => {
    const MARK = { cache_control: { type: "ephemeral" } };
    const marksIn = (at: number) => JSON.stringify(server.requests[at]!.body).match(/"cache_control"/g)?.length ?? 0;
    const openrouter = (name: string) => ({ ...CHAT, model: `openrouter/${name}` });
    const messages: ModelMessage[] = [
      { role: "user", parts: [{ type: "text", text: "a" }] },
      { role: "assistant", parts: [{ type: "tool_call", call_id: "c1", tool: "write", input: { path: "a" } }] },
      { role: "tool", results: [{ call_id: "c1", tool: "write", ok: true, output: "done" }] },
    ];

    test("is told which prefix to keep, on the parts of the instructions and of the last message", async () => {
      const claude = openrouter("anthropic/claude-sonnet-4.5");
      await fixture.call(claude);
      await fixture.call(claude, {}, { messages });
      await fixture.call(openrouter("openai/gpt-5"), {}, { messages });
      const [first, second] = server.requests.map(({ body }) => body);
      const text = (said: string) => [{ type: "text", text: said, ...MARK }];
      expect(first).toMatchObject({ messages: [{ content: text("You are terse.") }, { content: text("Hi") }] });
      expect(second).toMatchObject({
        messages: [{ role: "system" }, { content: "a" }, {}, { role: "tool", content: text("done") }],
      });
      expect([0, 1, 2].map(marksIn)).toEqual([2, 2, 0]);
    });

    test("is told so of an external agent's requests, too, unless the agent marks them itself", async () => {
      const { signal } = new AbortController();
      const model = openrouter("anthropic/claude-sonnet-4.5").model;
      const pass = async (content: unknown) => {
        const body = { messages: [{ role: "user", content }] };
        const passed = await fixture.port(CHAT).pass!({ protocol: "chat", model, body, headers: {}, signal });
        if (passed && "answer" in passed) await passed.answer.text();
      };
      await pass([
        { type: "text", text: "a" },
        { type: "image_url", image_url: { url: "data:image/png;base64," } },
      ]);
      await pass([
        { type: "text", text: "a", ...MARK },
        { type: "text", text: "b" },
      ]);
      expect(server.requests[0]!.body).toMatchObject({ messages: [{ content: [MARK, { type: "image_url" }] }] });
      expect([0, 1].map(marksIn)).toEqual([1, 1]);
    });
  });

  test("a reply without end is cut at the bound", async () => {
    server.next(reply({ text: "x".repeat(5000) }));
    const answer = await fixture.call(CHAT, { replyCharacters: 1000 });
    expect(answer.finish).toBe("length");
    expect(textOf(answer).length).toBeLessThan(1100);
  });

  test("nothing is printed by the SDK", async () => {
    const behaviours: Behaviour[] = [
      { kind: "status", status: 400, body: { error: { message: "no" } } },
      { kind: "malformed", reply: {} },
    ];
    const printed: unknown[] = [];
    const { error, warn } = console;
    console.error = console.warn = (...values: unknown[]) => void printed.push(values);
    const onWarning = (warning: Error) => void printed.push(warning.message);
    process.on("warning", onWarning);
    try {
      for (const behaviour of behaviours) {
        server.next(behaviour);
        await fixture.call(ANTHROPIC, { attempts: 1 }, { temperature: 0.5, thinkingLevel: "high" });
      }
      await Bun.sleep(10);
    } finally {
      process.off("warning", onWarning);
      Object.assign(console, { error, warn });
    }
    expect(printed).toEqual([]);
  });
});
