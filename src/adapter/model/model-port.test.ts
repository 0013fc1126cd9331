import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../core/clock.ts";
import type { ModelMessage, ModelReply, ModelRequest } from "../../engine/model.ts";
import { type Behaviour, createModelServer, type ModelServer, reply } from "../../testing/model-server.ts";
import { createCatalogue } from "./catalogue.ts";
import { createModelPort, type ResolvedProvider } from "./model-port.ts";
import type { ModelLimits } from "./retries.ts";

const KEY = "sk-canary-4f9a8b7c6d5e4f3a2b1c";

interface Case {
  wire: string;
  model: string;
  provider: Omit<ResolvedProvider, "source">;
  path: string;
}

/** One provider per wire protocol; the base path is the real one. */
const CASES: Case[] = [
  { wire: "chat completions", model: "custom-lab/m1", provider: { baseUrl: "/v1" }, path: "/v1/chat/completions" },
  { wire: "responses", model: "openai/gpt-5", provider: { baseUrl: "/v1" }, path: "/v1/responses" },
  { wire: "anthropic", model: "anthropic/claude-sonnet-4-5", provider: { baseUrl: "/v1" }, path: "/v1/messages" },
  {
    wire: "google",
    model: "google/gemini-2.5-flash",
    provider: { baseUrl: "/v1beta" },
    path: "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
  },
];

const TOOL = {
  name: "write",
  description: "Writes a file",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

let server: ModelServer;
let logged: string[];
beforeEach(async () => {
  server = await createModelServer();
  logged = [];
});
afterEach(() => server.stop());

function portFor(one: Case, limits: Partial<ModelLimits> = {}) {
  const { baseUrl, ...rest } = one.provider;
  return createModelPort({
    keys: { resolve: () => ({ apiKey: KEY, source: "instance", ...rest, baseUrl: `${server.origin}${baseUrl}` }) },
    prices: createCatalogue({ clock: systemClock }),
    clock: systemClock,
    scripted: { call: () => Promise.reject(new Error("not scripted")) },
    log: { warn: (fields, message) => void logged.push(JSON.stringify({ ...fields, message })) },
    limits: { backoffMs: 2, backoffMaxMs: 4, ...limits },
  });
}

function requestFor(one: Case, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: one.model,
    system: "You are terse.",
    messages: [{ role: "user", content: "Hi" }],
    tools: [TOOL],
    thinkingLevel: "off",
    scope: { agentId: "a", sessionId: "s" },
    signal: new AbortController().signal,
    ...more,
  };
}

const call = (one: Case, limits: Partial<ModelLimits> = {}, more: Partial<ModelRequest> = {}) =>
  portFor(one, limits).call(requestFor(one, more));

const textOf = (answer: ModelReply) => answer.parts.map((part) => (part.type === "text" ? part.text : "")).join("");

function expectNoKey(...values: unknown[]) {
  expect(JSON.stringify(values)).not.toContain(KEY);
  expect(JSON.stringify(values)).not.toContain(KEY.slice(0, 12));
  expect(logged.join("\n")).not.toContain(KEY);
}

for (const one of CASES) {
  describe(one.wire, () => {
    test("streams text in order and reports usage, cost and times", async () => {
      server.next(reply({ text: "Hello, dear world!", usage: { input: 1000, output: 500, cacheRead: 200 } }));
      const shown: string[] = [];
      const answer = await call(one, {}, { onText: (text) => void shown.push(text) });
      expect(answer).toMatchObject({ finish: "stop", attempts: 1, key_source: "instance", model: one.model });
      expect(textOf(answer)).toBe("Hello, dear world!");
      expect(shown.join("")).toBe("Hello, dear world!");
      expect(shown.length).toBeGreaterThan(1);
      expect(answer.usage).toMatchObject({ input_tokens: 1000, output_tokens: 500, cache_read_tokens: 200 });
      if (one.wire === "chat completions") expect(answer).toMatchObject({ cost_usd: null, cost_source: "unknown" });
      else {
        expect(answer.cost_source).toBe("table");
        expect(answer.cost_usd!).toBeGreaterThan(0);
      }
      expect(answer.time_to_first_token_ms!).toBeLessThanOrEqual(answer.duration_ms);
      expect(answer.error).toBeUndefined();
      expect(server.requests.map((request) => request.path)).toEqual([one.path]);
      expect(JSON.stringify(server.requests[0]!.headers)).toContain(KEY);
      expect(JSON.stringify(server.requests[0]!.body)).toContain("You are terse.");
      expectNoKey(answer);
    });

    test("gives tool calls with their parsed input", async () => {
      const input = { path: "HELLO.md", lines: [1, 2, 3] };
      server.next(reply({ text: "Writing.", toolCalls: [{ id: "call_x1", name: "write", input }] }));
      const answer = await call(one);
      expect(answer.finish).toBe("tool_calls");
      const found = answer.parts.find((part) => part.type === "tool_call");
      expect(found).toMatchObject({ tool: "write", input });
      expect(found?.type === "tool_call" && found.call_id.length).toBeGreaterThan(0);
      expect(JSON.stringify(server.requests[0]!.body)).toContain("Writes a file");
    });

    test("asks for thinking, shows it apart, and sends its signature back in the next request", async () => {
      const fake = { thinking: "Let me see…", signature: "c2lnbmF0dXJlLTQy", text: "So:" };
      server.next(reply({ ...fake, toolCalls: [{ id: "call_1", name: "write", input: { path: "a" } }] }));
      const thoughts: string[] = [];
      const port = portFor(one);
      const request = requestFor(one, { thinkingLevel: "medium", onThinking: (text) => void thoughts.push(text) });
      const answer = await port.call(request);
      expect(thoughts.join("")).toBe("Let me see…");
      expect(answer.parts.find((part) => part.type === "thinking")).toMatchObject({ text: "Let me see…" });
      expect(textOf(answer)).toBe("So:");
      expect(JSON.stringify(server.requests[0]!.body)).toMatch(
        /"reasoning_effort":"medium"|"effort":"medium"|"budget_tokens":\d+|"thinkingBudget":\d+/,
      );
      const found = answer.parts.find((part) => part.type === "tool_call")!;
      const call_id = found.type === "tool_call" ? found.call_id : "";
      // As it comes back from the store: through JSON.
      const parts = JSON.parse(JSON.stringify(answer.parts));
      const messages: ModelMessage[] = [
        ...request.messages,
        { role: "assistant", parts },
        { role: "tool", results: [{ call_id, tool: "write", ok: true, output: "written-7" }] },
      ];
      server.next(reply({ text: "Done." }));
      const second = await port.call({ ...request, messages });
      expect(second.finish).toBe("stop");
      const body = JSON.stringify(server.requests[1]!.body);
      expect(body).toContain("written-7");
      if (one.wire !== "chat completions") expect(body).toContain("c2lnbmF0dXJlLTQy");
    });

    test("a wrong key is not tried again, and the key is in no message though the provider echoes it", async () => {
      server.next({
        kind: "status",
        status: 401,
        body: { type: "error", error: { type: "auth", message: "bad key {{key}}", code: 401, status: "DENIED" } },
      });
      const answer = await call(one);
      expect(answer).toMatchObject({ finish: "error", attempts: 1, cost_usd: 0 });
      expect(answer.error).toMatchObject({ code: "provider_auth", retryable: false });
      expectNoKey(answer);
    });

    test("other refusals are told in the provider's words, without the key, and are not tried again", async () => {
      const error = { type: "invalid_request", message: "the field {{key}} is wrong", code: 400, status: "INVALID" };
      server.next({ kind: "status", status: 400, body: { type: "error", error } });
      const answer = await call(one);
      expect(answer.error).toMatchObject({ code: "provider_error", retryable: false });
      expect(answer.error!.message).toContain("is wrong");
      expect(answer.attempts).toBe(1);
      expectNoKey(answer);
    });

    test("waits as long as a rate limit asks, then succeeds", async () => {
      server.next({ kind: "status", status: 429, headers: { "retry-after": "1" } }, reply({ text: "ok" }));
      const answer = await call(one);
      expect(answer).toMatchObject({ finish: "stop", attempts: 2 });
      expect(answer.duration_ms).toBeGreaterThanOrEqual(1000);
      expectNoKey(answer);
    });

    test("server errors are tried again up to the limit, then told as retryable", async () => {
      const error = { message: "overloaded {{key}}", type: "api_error", code: 500, status: "INTERNAL" };
      server.next({ kind: "status", status: 500, body: { type: "error", error } });
      const answer = await call(one, { attempts: 3 });
      expect(answer).toMatchObject({ finish: "error", attempts: 3 });
      expect(answer.error).toMatchObject({ code: "provider_error", retryable: true });
      expect(server.requests.length).toBe(3);
      expect(logged.length).toBe(2);
      expectNoKey(answer);
    });

    for (const how of ["closed", "torn"] as const) {
      test(`a stream ${how} before anything was shown is made again`, async () => {
        server.next({ kind: "cut", how, reply: {} }, reply({ text: "whole" }));
        const answer = await call(one);
        expect(answer).toMatchObject({ finish: "stop", attempts: 2 });
        expect(textOf(answer)).toBe("whole");
      });

      test(`a stream ${how} after text was shown ends as a retryable error and keeps the text`, async () => {
        server.next({ kind: "cut", how, reply: { text: "half of a sen" } });
        const answer = await call(one, {}, { onText: () => {} });
        expect(answer).toMatchObject({ finish: "error", attempts: 1 });
        expect(answer.error).toMatchObject({ retryable: true });
        expect(answer.error!.code).toMatch(/^provider_(error|unreachable)$/);
        expect("half of a sen".startsWith(textOf(answer))).toBe(true);
        if (how === "closed") expect(textOf(answer)).toBe("half of a sen");
        expect(answer.cost_usd).toBeNull();
        expectNoKey(answer);
      });
    }

    test("malformed JSON in the stream is tried again, then a retryable error", async () => {
      server.next({ kind: "malformed", reply: {} });
      const answer = await call(one, { attempts: 2 });
      expect(answer).toMatchObject({ finish: "error", attempts: 2 });
      expect(answer.error).toMatchObject({ code: "provider_error", retryable: true });
      expectNoKey(answer);
    });

    test("an error told inside the stream is an error with the provider's words", async () => {
      server.next({ kind: "error-frame", reply: { text: "be" }, message: `overloaded for ${KEY}` });
      const answer = await call(one, { attempts: 1 }, { onText: () => {} });
      expect(answer).toMatchObject({ finish: "error", error: { code: "provider_error", retryable: true } });
      expect(answer.error!.message).toContain("overloaded");
      expectNoKey(answer);
    });

    test("a slow first token is waited for within the limit", async () => {
      server.next({ kind: "reply", reply: { text: "late" }, firstTokenMs: 150 });
      const answer = await call(one, { firstTokenMs: 5000 });
      expect(textOf(answer)).toBe("late");
      expect(answer.time_to_first_token_ms!).toBeGreaterThanOrEqual(140);
    });

    test("no first token in time is a time-out, not tried again", async () => {
      server.next({ kind: "hang" });
      const answer = await call(one, { firstTokenMs: 80 });
      expect(answer).toMatchObject({ finish: "error", attempts: 1, cost_usd: null });
      expect(answer.error).toMatchObject({ code: "provider_timeout", retryable: true });
    });

    test("silence after the first token is a time-out that keeps the text", async () => {
      server.next({ kind: "hang", reply: { text: "and then" } });
      const answer = await call(one, { firstTokenMs: 5000, idleMs: 80 });
      expect(answer.error?.code).toBe("provider_timeout");
      expect(answer.duration_ms).toBeLessThan(4000);
      expect(textOf(answer)).toBe("and then");
    });

    test("an abort ends the call at once, keeps the text and closes the connection", async () => {
      server.next({ kind: "hang", reply: { text: "going on", toolCalls: [{ name: "write", input: { path: "x" } }] } });
      const abort = new AbortController();
      let abortedAt = 0;
      const answer = await call(
        one,
        {},
        {
          signal: abort.signal,
          onText: () =>
            void setTimeout(() => {
              abortedAt ||= performance.now();
              abort.abort();
            }, 20),
        },
      );
      expect(performance.now() - abortedAt).toBeLessThan(500);
      expect(answer.finish).toBe("aborted");
      expect(answer.error).toBeUndefined();
      expect(textOf(answer)).toBe("going on");
      expect(answer.parts.some((part) => part.type === "tool_call")).toBe(false);
      for (let wait = 0; server.open() > 0 && wait < 100; wait++) await Bun.sleep(10);
      expect(server.open()).toBe(0);
    });

    test("an abort before the call and one during a back-off end it as aborted", async () => {
      expect((await call(one, {}, { signal: AbortSignal.abort() })).finish).toBe("aborted");
      server.next({ kind: "status", status: 503 });
      const waiting = call(one, { backoffMs: 60_000, backoffMaxMs: 60_000 }, { signal: AbortSignal.timeout(100) });
      const answer = await waiting;
      expect(answer.finish).toBe("aborted");
      expect(answer.duration_ms).toBeLessThan(5000);
    });

    test("a redirect is not followed: the key goes to no other host", async () => {
      const other = await createModelServer();
      server.next({ kind: "redirect", location: `${other.origin}${one.path}` });
      const answer = await call(one);
      expect(answer.error).toMatchObject({ code: "provider_error", retryable: false });
      expect(answer.error!.message).toContain("redirect");
      expect(other.requests.length).toBe(0);
      await other.stop();
    });

    test("a reply cut at its token limit says so", async () => {
      server.next(reply({ text: "long", finish: "length" }));
      expect((await call(one)).finish).toBe("length");
    });
  });
}

describe("tool input that is no JSON", () => {
  for (const one of CASES.filter((each) => each.wire !== "google"))
    test(`${one.wire}: comes back as the raw text, and the history with it is accepted again`, async () => {
      server.next(reply({ toolCalls: [{ id: "c1", name: "write", input: '{"path": "a' }] }));
      const port = portFor(one);
      const answer = await port.call(requestFor(one));
      expect(answer.finish).toBe("tool_calls");
      expect(answer.parts.find((part) => part.type === "tool_call")).toMatchObject({ input: '{"path": "a' });
      server.next(reply({ text: "ok" }));
      const results = [{ call_id: "c1", tool: "write", ok: false, output: "input is no JSON" }];
      const second = await port.call(
        requestFor(one, {
          messages: [
            { role: "user", content: "Hi" },
            { role: "assistant", parts: answer.parts },
            { role: "tool", results },
          ],
        }),
      );
      expect(second.error).toBeUndefined();
      expect(JSON.stringify(server.requests[1]!.body)).toContain("invalid_input");
    });

  test("a call of a tool that was not offered is handed back too", async () => {
    server.next(reply({ toolCalls: [{ id: "c1", name: "fly", input: { to: "moon" } }] }));
    const answer = await call(CASES[0]!);
    expect(answer.parts).toMatchObject([{ type: "tool_call", tool: "fly", input: { to: "moon" } }]);
  });
});

describe("model port", () => {
  const chat = CASES[0]!;

  test("a provider that is unknown, not configured or without a key is said so, without a request", async () => {
    const port = (found: ResolvedProvider | undefined) =>
      createModelPort({
        keys: { resolve: () => found },
        prices: createCatalogue({ clock: systemClock }),
        clock: systemClock,
        scripted: { call: () => Promise.reject(new Error("no")) },
      });
    for (const [model, found] of [
      ["nobody/x", { source: "none" }],
      ["gpt-4o", { source: "none" }],
      ["openai/gpt-4o", undefined],
      ["openai/gpt-4o", { source: "none" }],
      ["custom-x/y", { source: "none" }],
    ] as [string, ResolvedProvider | undefined][]) {
      const answer = await port(found).call(requestFor(chat, { model }));
      expect(answer).toMatchObject({ finish: "error", attempts: 0, error: { code: "provider_not_configured" } });
    }
  });

  test("a key store that throws is a reply too, without its message", async () => {
    const port = createModelPort({
      keys: { resolve: () => Promise.reject(new Error(`cannot unseal ${KEY}`)) },
      prices: createCatalogue({ clock: systemClock }),
      clock: systemClock,
      scripted: { call: () => Promise.reject(new Error("no")) },
      log: { warn: (fields, message) => void logged.push(JSON.stringify({ ...fields, message })) },
    });
    const answer = await port.call(requestFor(chat));
    expect(answer.finish).toBe("error");
    expect(logged.length).toBe(1);
    expectNoKey(answer);
  });

  test("a server that is not there is tried again and then named", async () => {
    const gone = await createModelServer();
    const { origin } = gone;
    await gone.stop();
    const port = createModelPort({
      keys: { resolve: () => ({ source: "none", baseUrl: origin }) },
      prices: createCatalogue({ clock: systemClock }),
      clock: systemClock,
      scripted: { call: () => Promise.reject(new Error("no")) },
      limits: { attempts: 2, backoffMs: 1 },
    });
    const answer = await port.call(requestFor(chat, { model: "ollama/qwen3" }));
    expect(answer.attempts).toBe(2);
    expect(answer.error).toMatchObject({ code: "provider_unreachable", retryable: true });
    expect(answer.error!.message).toContain(origin);
    expect(answer.cost_usd).toBe(0);
  });

  test("a local server gets no key when there is none", async () => {
    const port = createModelPort({
      keys: { resolve: () => ({ source: "none", baseUrl: server.origin }) },
      prices: createCatalogue({ clock: systemClock }),
      clock: systemClock,
      scripted: { call: () => Promise.reject(new Error("no")) },
    });
    const answer = await port.call(requestFor(chat, { model: "ollama/qwen3:8b" }));
    expect(answer).toMatchObject({ finish: "stop", key_source: "none", cost_usd: 0, cost_source: "table" });
    expect(server.requests[0]!.headers["authorization"]).toBeUndefined();
    expect(server.requests[0]!.body).toMatchObject({ model: "qwen3:8b", stream: true });
  });

  test("a wait longer than the bound is not waited", async () => {
    server.next({ kind: "status", status: 429, headers: { "retry-after": "3600" } });
    const answer = await call(chat);
    expect(answer).toMatchObject({ attempts: 1, error: { code: "provider_rate_limited", retryable: true } });
  });

  test("a used-up quota is not tried again", async () => {
    const error = { message: "You exceeded your quota", code: "insufficient_quota" };
    server.next({ kind: "status", status: 429, body: { error } });
    expect(await call(chat)).toMatchObject({ attempts: 1, error: { code: "provider_rate_limited", retryable: false } });
  });

  test("a prompt over the window has its own code", async () => {
    const error = { message: "This model's maximum context length is 8192 tokens", code: "context_length_exceeded" };
    server.next({ kind: "status", status: 400, body: { error } });
    expect((await call(chat)).error).toMatchObject({ code: "context_too_long", retryable: false });
  });

  test("a model that refuses the thinking level is called without it", async () => {
    const error = { message: '"llama3" does not support thinking' };
    server.next({ kind: "status", status: 400, body: { error } }, reply({ text: "fine" }));
    const answer = await call(chat, {}, { thinkingLevel: "high" });
    expect(answer).toMatchObject({ finish: "stop", attempts: 2 });
    expect(server.requests[0]!.body).toMatchObject({ reasoning_effort: "high" });
    expect(server.requests[1]!.body).not.toHaveProperty("reasoning_effort");
  });

  test("what the provider says it charged counts before the table", async () => {
    server.next(reply({ text: "x", costUsd: 0.0123 }));
    const model = "openrouter/openai/gpt-4o";
    const answer = await portFor(chat).call(requestFor(chat, { model }));
    expect(answer).toMatchObject({ cost_usd: 0.0123, cost_source: "provider" });
  });

  test("reasoning of one provider is not sent to another", async () => {
    const parts: ModelReply["parts"] = [
      { type: "thinking", text: "secret-thought", provider: { provider: "anthropic", metadata: { anthropic: {} } } },
      { type: "text", text: "said" },
    ];
    const messages: ModelMessage[] = [
      { role: "user", content: "a" },
      { role: "assistant", parts },
      { role: "user", content: "b" },
    ];
    await call(CASES[1]!, {}, { messages });
    const body = JSON.stringify(server.requests[0]!.body);
    expect(body).toContain("said");
    expect(body).not.toContain("secret-thought");
  });

  test("OpenAI is told to keep nothing, and Anthropic's prefix is marked for its cache", async () => {
    await call(CASES[1]!);
    await call(CASES[2]!);
    expect(server.requests[0]!.body).toMatchObject({ store: false });
    expect(JSON.stringify(server.requests[1]!.body).match(/"cache_control"/g)?.length).toBe(2);
  });

  test("a reply without end is cut at the bound", async () => {
    server.next(reply({ text: "x".repeat(5000) }));
    const answer = await call(chat, { replyCharacters: 1000 });
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
        await call(CASES[2]!, { attempts: 1 }, { temperature: 0.5, thinkingLevel: "high" });
      }
      await Bun.sleep(10);
    } finally {
      process.off("warning", onWarning);
      Object.assign(console, { error, warn });
    }
    expect(printed).toEqual([]);
  });
});
